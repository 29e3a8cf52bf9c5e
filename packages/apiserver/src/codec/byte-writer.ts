/**
 * Collects a long response in few large chunks: bytes and ASCII text are copied once, to the place from which they are
 * sent. Sent chunks are reused, because fresh ones cost more than what is written to them: pages to map, and garbage to
 * collect.
 */

/** This needs fewer writes to the connection, and no single copy of the whole. */
const CHUNK_BYTES = 256 * 1024;
/** 8 MiB: lists of a thousand objects that a few clients request at the same time. */
const MAX_SPARES = 32;
const spares: Buffer[] = [];

export class ByteWriter {
  readonly #chunks: Uint8Array[] = [];
  readonly #reusable: Buffer[] = [];
  #chunk: Buffer;
  #length = 0;

  /** `expectedBytes` avoids a large chunk for a short response; more may be written. */
  constructor(expectedBytes: number) {
    this.#chunk = expectedBytes < CHUNK_BYTES ? Buffer.allocUnsafe(expectedBytes) : emptyChunk();
  }

  /** ASCII text. */
  text(text: string): void {
    this.#reserve(text.length);
    this.#length += this.#chunk.write(text, this.#length, "latin1");
  }

  bytes(bytes: Uint8Array, start = 0, end = bytes.byteLength): void {
    this.#reserve(end - start);
    this.#chunk.set(start === 0 && end === bytes.byteLength ? bytes : bytes.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  /** Returns the written chunks, in order. Nothing may be written afterwards. */
  finish(): readonly Uint8Array[] {
    this.#close();
    return this.#chunks;
  }

  /**
   * Releases the chunks for reuse. Called by the sender when the connection has flushed the last byte; otherwise they
   * become garbage.
   */
  release(): void {
    for (const chunk of this.#reusable.splice(0)) if (spares.length < MAX_SPARES) spares.push(chunk);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#chunk.byteLength) return;
    if (this.#length > 0) this.#close();
    this.#chunk = bytes > CHUNK_BYTES ? Buffer.allocUnsafe(bytes) : emptyChunk();
    this.#length = 0;
  }

  #close(): void {
    this.#chunks.push(this.#chunk.subarray(0, this.#length));
    if (this.#chunk.byteLength === CHUNK_BYTES) this.#reusable.push(this.#chunk);
  }
}

function emptyChunk(): Buffer {
  return spares.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
}
