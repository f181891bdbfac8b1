"""Keeps what a server has sent, stream by stream."""

from collections import defaultdict

from mcp.server.streamable_http import EventMessage, EventStore


class Journal(EventStore):
    """An event id is its position and its stream, such as `3@stream`, so no lookup is needed."""

    def __init__(self):
        self.streams = defaultdict(list)

    async def store_event(self, stream_id, message):
        stream = self.streams[stream_id]
        stream.append(message)
        return f"{len(stream)}@{stream_id}"

    async def replay_events_after(self, last_event_id, send_callback):
        place, _, stream_id = last_event_id.partition("@")
        if stream_id not in self.streams:
            return None
        for place, message in enumerate(self.streams[stream_id][int(place) :], int(place) + 1):
            # The first event of a stream only has an id.
            if message is not None:
                await send_callback(EventMessage(message, f"{place}@{stream_id}"))
        return stream_id
