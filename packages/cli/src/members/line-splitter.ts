/** Splits a byte stream into lines. A newline byte is never part of a longer UTF-8 character. */
const NEWLINE = 0x0a;

export interface LineSplitter {
  /** The lines that this chunk completes, without line ends. A line beyond the limit is returned in parts. */
  push(chunk: Uint8Array): Buffer[];
  /** The remainder when the stream ended in the middle of a line. */
  rest(): Buffer[];
}

export function createLineSplitter(maxBytes: number): LineSplitter {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  const take = (tail: Uint8Array): Buffer => {
    const line = Buffer.concat([...pending, tail], pendingBytes + tail.byteLength);
    pending = [];
    pendingBytes = 0;
    return line;
  };
  return {
    push(chunk) {
      const lines: Buffer[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        lines.push(take(chunk.subarray(start, end)));
        start = end + 1;
      }
      if (start < chunk.byteLength) {
        pending.push(chunk.subarray(start));
        pendingBytes += chunk.byteLength - start;
        if (pendingBytes > maxBytes) lines.push(take(new Uint8Array()));
      }
      return lines;
    },
    rest: () => (pendingBytes > 0 ? [take(new Uint8Array())] : []),
  };
}
