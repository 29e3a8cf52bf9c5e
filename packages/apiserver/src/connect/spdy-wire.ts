/** The wire format of SPDY/3.1, as far as Kubernetes' streams use it: frames, and headers compressed with one dictionary. */
import { FlotillaError } from "@flotilla/base";
import { constants, createDeflate, createInflate } from "node:zlib";
import type { Transform } from "node:stream";

export const FRAME = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;
export const FIN = 0x01;
const VERSION = 3;
const HEAD_BYTES = 8;
/** Headers of a stream are a few short lines. */
const MAX_CONTROL_BYTES = 16 * 1024;

export type Frame =
  | { type: "data"; stream: number; isLast: boolean; content: Buffer }
  | { type: "control"; kind: number; flags: number; content: Buffer };

/** Cuts bytes into frames. Data is passed on as it arrives, so a frame needs no memory of its own size. */
export class FrameReader {
  #waiting: Buffer = Buffer.alloc(0);
  /** A data frame of which a part has arrived. */
  #open: { stream: number; flags: number; left: number } | undefined;

  push(chunk: Buffer): void {
    this.#waiting = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk]);
  }

  /** Undefined when more bytes are needed. Throws when the bytes are not SPDY. */
  next(): Frame | undefined {
    if (this.#open) return this.#data(this.#open);
    if (this.#waiting.length < HEAD_BYTES) return undefined;
    const first = this.#waiting.readUInt32BE(0);
    const flags = this.#waiting[4] ?? 0;
    const length = this.#waiting.readUIntBE(5, 3);
    if (first >>> 31 === 0) {
      this.#waiting = this.#waiting.subarray(HEAD_BYTES);
      const open = { stream: first, flags, left: length };
      this.#open = open;
      return this.#data(open);
    }
    if (((first >>> 16) & 0x7fff) !== VERSION)
      throw new FlotillaError("Stream", "the connection does not speak SPDY/3.1");
    if (length > MAX_CONTROL_BYTES) throw new FlotillaError("Stream", "a SPDY control frame is too long");
    if (this.#waiting.length < HEAD_BYTES + length) return undefined;
    const content = this.#waiting.subarray(HEAD_BYTES, HEAD_BYTES + length);
    this.#waiting = this.#waiting.subarray(HEAD_BYTES + length);
    return { type: "control", kind: first & 0xffff, flags, content };
  }

  #data(open: { stream: number; flags: number; left: number }): Frame | undefined {
    if (open.left > 0 && this.#waiting.length === 0) return undefined;
    const content = this.#waiting.subarray(0, open.left);
    this.#waiting = this.#waiting.subarray(content.length);
    open.left -= content.length;
    const isWhole = open.left === 0;
    if (isWhole) this.#open = undefined;
    return { type: "data", stream: open.stream, isLast: isWhole && (open.flags & FIN) !== 0, content };
  }
}

export function dataFrame(stream: number, content: Uint8Array, isLast = false): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + content.length);
  frame.writeUInt32BE(stream, 0);
  frame[4] = isLast ? FIN : 0;
  frame.writeUIntBE(content.length, 5, 3);
  frame.set(content, HEAD_BYTES);
  return frame;
}

export function controlFrame(kind: number, flags: number, content: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + content.length);
  frame.writeUInt32BE((0x80000000 | (VERSION << 16) | kind) >>> 0, 0);
  frame[4] = flags;
  frame.writeUIntBE(content.length, 5, 3);
  frame.set(content, HEAD_BYTES);
  return frame;
}

/** The dictionary of the specification: words with their length, then plain text. */
const WORDS = (
  "options head post put delete trace accept accept-charset accept-encoding accept-language " +
  "accept-ranges age allow authorization cache-control connection content-base content-encoding " +
  "content-language content-length content-location content-md5 content-range content-type date etag " +
  "expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since " +
  "last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer " +
  "retry-after server te trailer transfer-encoding upgrade user-agent vary via warning " +
  "www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin"
).split(" ");
const TEXT =
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 " +
  "Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 " +
  "Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar " +
  "Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, " +
  "GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain," +
  "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

function dictionary(): Buffer {
  const words = WORDS.map((word) => lengthAndText(word.replace("_", " ")));
  return Buffer.concat([...words, Buffer.from(TEXT, "latin1")]);
}

function lengthAndText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** One direction of a connection: each block continues the compression of those before it. */
class Compression {
  readonly #stream: Transform;

  constructor(stream: Transform) {
    this.#stream = stream;
  }

  run(block: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const parts: Buffer[] = [];
      let size = 0;
      const onError = (error: Error): void => reject(error);
      const onData = (part: Buffer): void => {
        parts.push(part);
        size += part.length;
        if (size > MAX_CONTROL_BYTES) this.#stream.destroy(new Error("the headers of a SPDY stream are too long"));
      };
      this.#stream.once("error", onError);
      this.#stream.on("data", onData);
      this.#stream.write(block, () =>
        // What was pushed last is emitted in this turn.
        setImmediate(() => {
          this.#stream.off("error", onError);
          this.#stream.off("data", onData);
          resolve(Buffer.concat(parts));
        }),
      );
    });
  }

  close(): void {
    this.#stream.destroy();
  }
}

export class HeaderBlocks {
  readonly #inflate: Compression;
  readonly #deflate: Compression;

  constructor() {
    const shared = { dictionary: dictionary(), flush: constants.Z_SYNC_FLUSH };
    this.#inflate = new Compression(createInflate({ ...shared, finishFlush: constants.Z_SYNC_FLUSH }));
    this.#deflate = new Compression(createDeflate(shared));
  }

  /** By lower-case name; a value of several lines is joined with zero bytes. */
  async read(block: Uint8Array): Promise<ReadonlyMap<string, string>> {
    const bytes = await this.#inflate.run(block);
    const headers = new Map<string, string>();
    let at = 4;
    const text = (): string => {
      const length = bytes.readUInt32BE(at);
      at += 4 + length;
      return bytes.toString("utf8", at - length, at);
    };
    for (let left = bytes.readUInt32BE(0); left > 0; left--) headers.set(text().toLowerCase(), text());
    return headers;
  }

  write(headers: ReadonlyMap<string, string>): Promise<Buffer> {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(headers.size);
    return this.#deflate.run(Buffer.concat([count, ...Array.from(headers).flatMap((pair) => pair.map(lengthAndText))]));
  }

  close(): void {
    this.#inflate.close();
    this.#deflate.close();
  }
}
