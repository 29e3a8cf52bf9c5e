/** How much a server may send. The hub trusts no member: its limits are far below what its memory can hold. */
import { COUNT_ABOVE_BYTES, countJsonValues } from "@flotilla/base";
import { ResponseLimitError } from "./errors.ts";

export interface ResponseLimits {
  /** One object, and one watch event. */
  objectBytes: number;
  objectValues: number;
  /** One page of a list. */
  listBytes: number;
  listValues: number;
  /** All incomplete responses and watch events of one connection together. */
  bufferedBytes: number;
  /** All watches of one connection together; what exceeds it is read later. */
  watchBytesPerSecond: number;
}

/** For servers that the user of this process chose, such as the hub of a command. */
export const TRUSTED_LIMITS: ResponseLimits = {
  // An accepted object is at most 3 MiB; the fields that a server adds do not come near this limit.
  objectBytes: 16 * 1024 * 1024,
  objectValues: Number.MAX_SAFE_INTEGER,
  // A hundred thousand objects of 2 KB; longer lists are read in pages.
  listBytes: 256 * 1024 * 1024,
  listValues: Number.MAX_SAFE_INTEGER,
  bufferedBytes: Number.MAX_SAFE_INTEGER,
  watchBytesPerSecond: Number.POSITIVE_INFINITY,
};

/** For servers of others, such as members. */
export const UNTRUSTED_LIMITS: ResponseLimits = {
  // More than twice the 1.5 MiB that etcd stores, for a server that renders an object longer than it stores it.
  objectBytes: 4 * 1024 * 1024,
  // The largest published CRDs have some 50,000. Parsing this many takes at most about 200 ms.
  objectValues: 100_000,
  // 500 objects of 64 KiB; informers request smaller pages where objects are larger.
  listBytes: 32 * 1024 * 1024,
  // One per 16 bytes; objects of Kubernetes have one per 20 to 30.
  listValues: 2_000_000,
  // A few pages of lists at once, or an incomplete event on each of some thirty watches.
  bufferedBytes: 128 * 1024 * 1024,
  // A thousand changes of pods each second; decoding them takes an eighth of a core's time.
  watchBytesPerSecond: 8 * 1024 * 1024,
};

/** Rejects a text with more values than the limit, before it is parsed. */
export function checkValues(bytes: Uint8Array, limit: number, what: string): void {
  if (bytes.length <= COUNT_ABOVE_BYTES || limit === Number.MAX_SAFE_INTEGER) return;
  if (countJsonValues(bytes, limit) > limit)
    throw new ResponseLimitError(`${what} has more than ${limit} values`, { mayHaveArrived: true });
}

/** The bytes that a connection has buffered. */
export interface BufferMeter {
  /** Throws when the connection buffers too much; a negative number releases. */
  add(bytes: number): void;
}

export function createBufferMeter(limit: number): BufferMeter {
  let buffered = 0;
  return {
    add(bytes) {
      if (bytes > 0 && buffered + bytes > limit)
        throw new ResponseLimitError(`the incomplete responses of this server have more than ${limit} bytes together`, {
          mayHaveArrived: true,
        });
      buffered += bytes;
    },
  };
}
