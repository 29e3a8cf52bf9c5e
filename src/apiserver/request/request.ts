/**
 * A request as the API server's core sees it, whatever brought it: the HTTP front end fills it from a stream, a test by
 * hand. The answer is bytes, or a stream that the front end drains at the peer's pace.
 */
import type { Duplex } from "node:stream";

export interface UserInfo {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ApiRequest {
  /** The connection can be given to another protocol, and the peer asks for it in its `upgrade` header. */
  canUpgrade?: boolean;
  method: string;
  /**
   * The path as it came, with `/clusters/<name>` in front where it had one, still percent-encoded; without the query.
   */
  path: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Names and values by turns, each line as it came; unset when nothing was joined in `headers`. */
  rawHeaders?: readonly string[];
  body: Uint8Array;
  user: UserInfo;
  /** Aborted when the peer goes away or the server stops. */
  signal: AbortSignal;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string | string[]>;
  /** Whole, in pieces that need not be joined, or a stream. */
  body: Uint8Array | readonly Uint8Array[] | ByteStream;
  /**
   * To be called when the connection has taken the whole body, which is then used again; not calling it costs no more
   * than garbage.
   */
  release?(): void;
  /**
   * Comes with status 101 and only for requests that may be upgraded: takes over the connection when its head is sent.
   */
  upgrade?(socket: Duplex, head: Buffer): () => void;
}

/**
 * A watch. Bytes are offered as they come about; the source holds back, and in the end gives up, when the sink is slow.
 */
export interface ByteStream {
  /** Called once. Returns what to call when the peer goes away. */
  open(sink: ByteSink): () => void;
}
export interface ByteSink {
  /** False asks to wait for `onDrain`. */
  write(chunk: Uint8Array): boolean;
  onDrain(resume: () => void): void;
  end(): void;
}

export interface Credentials {
  certificate?: { commonName: string; organizations: readonly string[]; credentialId?: string; cluster?: string };
  bearerToken?: string;
  /** The SHA-256 of the token, where it is known already. */
  bearerDigest?: string;
  /** The logical cluster that the request is for: what is good in one may mean nothing in another. */
  cluster: string;
  /** The path in that cluster. */
  path?: string;
}

/**
 * Who sends a request, or undefined for somebody without credentials who may come in. Throws `unauthorized()` for all
 * others.
 */
export interface Authenticator {
  authenticate(credentials: Credentials): Promise<UserInfo | undefined>;
}
