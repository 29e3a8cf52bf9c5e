/** Hand-written HTTP/2 frames, for input that no client library would send. */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, windowUpdate: 8, continuation: 9 } as const;
export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Literal headers without indexing; each string is shorter than 127 bytes. */
export function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([Buffer.byteLength(value)]), Buffer.from(value)]);
  return Buffer.concat(Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

/** One literal header without indexing, with a short name and a value of up to 16,000 bytes. */
export function longHeader(name: string, value: string): Buffer {
  const rest = Buffer.byteLength(value) - 127;
  const length =
    rest < 0 ? [rest + 127] : [127, (rest & 127) | (rest > 127 ? 128 : 0), ...(rest > 127 ? [rest >> 7] : [])];
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from(length), Buffer.from(value)]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
