"""The smallest image and the shortest sound, generated here."""

import base64
import io
import struct
import wave
import zlib


def png():
    """One grey pixel."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    # Width, height, eight bits of grey; the rest are PNG's usual values.
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    # A row starts with its filter type, here none.
    row = bytes([0, 128])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")


def wav():
    """One period, a millisecond long."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(bytes([128, 180, 200, 180, 128, 76, 56, 76]))
    return file.getvalue()


def as_text(data):
    return base64.b64encode(data).decode()
