"""What a server keeps of its streams."""

from mcp.server.streamable_http import EventMessage, EventStore


class Events(EventStore):
    """Everything that was sent, for streams that are taken up again."""

    def __init__(self):
        self.sent = []

    async def store_event(self, stream_id, message):
        self.sent.append((stream_id, message))
        return str(len(self.sent))

    async def replay_events_after(self, last_event_id, send_callback):
        last = int(last_event_id)
        stream = self.sent[last - 1][0]
        for at, (of, message) in enumerate(self.sent[last:], last + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(at)))
        return stream
