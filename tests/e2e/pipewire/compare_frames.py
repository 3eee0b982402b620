"""Compares frames that a receiver of the virtual camera got with the recording of the same frames.

usage: compare_frames.py RECEIVED RECORDED ROW_BYTES RECEIVED_ROW_BYTES HEIGHT DROPPED

Both files have raw frames. Consecutive equal frames count once, because the camera repeats a frame while no new one
comes. The received frames must be the recorded ones in the same order; at most DROPPED may be missing.
"""
import hashlib
import sys


def frames(path, row_bytes, stored_row_bytes, height):
    """Returns the hashes of the frames in a file, without consecutive repetitions."""
    hashes = []
    with open(path, "rb") as file:
        while True:
            data = file.read(stored_row_bytes * height)
            if len(data) < stored_row_bytes * height:
                break
            rows = (data[y * stored_row_bytes:y * stored_row_bytes + row_bytes] for y in range(height))
            value = hashlib.sha256(b"".join(rows)).digest()
            if not hashes or hashes[-1] != value:
                hashes.append(value)
    return hashes


def main():
    received_path, recorded_path = sys.argv[1:3]
    row_bytes, received_row_bytes, height, dropped = map(int, sys.argv[3:7])
    received = frames(received_path, row_bytes, received_row_bytes, height)
    recorded = frames(recorded_path, row_bytes, row_bytes, height)
    position, gaps = 0, []
    for number, value in enumerate(received):
        try:
            found = recorded.index(value, position)
            if found > position:
                gaps.append(f"{position}-{found - 1}")
            position = found + 1
        except ValueError:
            sys.exit(f"received frame {number} is not the recorded frame {position} or a later one")
    missing = len(recorded) - len(received)
    print(f"{len(received)} of {len(recorded)} frames received, all byte-identical")
    if missing > dropped:
        gaps.append(f"from {position}")
        sys.exit(f"{missing} frames are missing, lensd counted {dropped}: {', '.join(gaps)}")


main()
