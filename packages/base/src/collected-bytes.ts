/**
 * The bytes of a body while it arrives. Chunks are copied: a chunk of one byte takes more than a hundred as an object,
 * and keeps the whole buffer that the connection was read into.
 */

/** A server that sends tiny chunks takes thousands of times the time of its bytes. Packets of the slowest networks have some 500 bytes. */
const FREE_CHUNKS = 1_000;
const EFFICIENT_BYTES = 128;
const FIRST_BLOCK_BYTES = 1024;
const MAX_BLOCK_BYTES = 64 * 1024;

export class CollectedBytes {
  length = 0;
  #chunks = 0;
  /** The bytes of memory that are taken: up to twice the length, or one small block. */
  capacity = 0;
  readonly #blocks: Buffer[] = [];
  /** The last of the blocks, and how much of it is filled. All others are full. */
  #block: Buffer | undefined;
  #filled = 0;

  /** Whether the chunks are much smaller than what any network delivers. */
  get isInTinyChunks(): boolean {
    return this.#chunks > FREE_CHUNKS + this.length / EFFICIENT_BYTES;
  }

  add(chunk: Uint8Array): void {
    this.#chunks++;
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#block && this.#filled < this.#block.length) {
      const copied = rest.copy(this.#block, this.#filled);
      this.#filled += copied;
      this.length += copied;
      rest = rest.subarray(copied);
    }
    if (rest.length === 0) return;
    // As many bytes as there are already, so that few blocks hold a body.
    const size = Math.max(rest.length, Math.min(Math.max(this.length, FIRST_BLOCK_BYTES), MAX_BLOCK_BYTES));
    const block = Buffer.allocUnsafe(size);
    this.#filled = rest.copy(block);
    this.length += rest.length;
    this.capacity += size;
    this.#block = block;
    this.#blocks.push(block);
  }

  join(): Buffer {
    return this.#block && this.#blocks.length === 1
      ? this.#block.subarray(0, this.length)
      : Buffer.concat(this.#blocks, this.length);
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#block = undefined;
  }
}
