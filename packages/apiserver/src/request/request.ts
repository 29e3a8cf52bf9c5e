/**
 * A request as the core of the API server sees it, independent of the transport: the HTTP front end fills it from a
 * stream, tests fill it directly. The response is bytes, or a stream that the front end drains at the client's pace.
 */
import type { Duplex } from "node:stream";
import type { AuditRecord } from "./audit-record.ts";
import type { UserInfo } from "./user-info.ts";

export interface ApiRequest {
  /** The connection can be upgraded, and the client requests it in its `upgrade` header. */
  canUpgrade?: boolean;
  method: string;
  /** The unmodified path, including a `/clusters/<name>` prefix, still percent-encoded; without the query. */
  path: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Alternating names and values, one pair per header line; unset when nothing was joined in `headers`. */
  rawHeaders?: readonly string[];
  body: Uint8Array;
  user: UserInfo;
  /** The address of the client; unset in this process. */
  address?: string | undefined;
  /** Set while the request is audited. */
  audit?: AuditRecord | undefined;
  /** Aborted when the client disconnects or the server stops. */
  signal: AbortSignal;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string | string[]>;
  /** Whole, in chunks that need not be joined, or a stream. */
  body: Uint8Array | readonly Uint8Array[] | ByteStream;
  /**
   * Called when the connection has flushed the whole body, so that its buffers can be reused; without the call they
   * become garbage.
   */
  release?(): void;
  /** Only for a stream: it ends by itself. It may be compressed, and the client must read it in time. */
  isFinite?: true;
  /** Only with status 101 and for upgradable requests: takes over the connection after the headers are sent. */
  upgrade?(socket: Duplex, head: Buffer): () => void;
}

/** A watch. Bytes are offered as they are produced; the source waits, and finally closes, when the sink is slow. */
export interface ByteStream {
  /** Called once. Returns the function to call when the client disconnects. */
  open(sink: ByteSink): () => void;
}
export interface ByteSink {
  /** Returns false when the caller should wait for `onDrain`. */
  write(chunk: Uint8Array): boolean;
  onDrain(resume: () => void): void;
  end(): void;
}

interface Credentials {
  certificate?: {
    commonName: string;
    organizations: readonly string[];
    credentialId?: string;
    cluster?: string | undefined;
    registration?: string | undefined;
  };
  bearerToken?: string;
  /** The SHA-256 of the token, if already computed. */
  bearerDigest?: string;
  /** The logical cluster that the request is for: credentials of one cluster may not be valid in another. */
  cluster: string;
  /** The path in that cluster. */
  path?: string;
  /** Of the client; what identity it has is not known yet. */
  address?: string | undefined;
}

export interface Authenticator {
  /**
   * The user of a request, or undefined for an unauthenticated request that is admitted; at once for known credentials.
   * Throws or rejects with `unauthorized()` otherwise.
   */
  authenticate(credentials: Credentials): UserInfo | undefined | Promise<UserInfo | undefined>;
  /** The one logical cluster in which credentials may be valid; undefined when they do not say. They are not checked. */
  homeOf?(credentials: Omit<Credentials, "cluster" | "path">): Promise<string | undefined>;
}
