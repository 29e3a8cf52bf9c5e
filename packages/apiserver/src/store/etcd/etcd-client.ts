/**
 * Calls etcd: keeps a connection to one of the endpoints, moves to the next one when it fails, authenticates, and repeats
 * calls where that is safe. A write whose answer was lost is not repeated: it may have been carried out.
 */
import { sleep } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import { StoreError, StoreUnavailableError, StoreWriteError } from "../errors.ts";
import { GrpcError, grpcStatus, openGrpcChannel } from "../grpc/grpc-channel.ts";
import type { GrpcChannel, GrpcChannelOptions, GrpcStream } from "../grpc/grpc-channel.ts";
import { readToken, renderAuthentication } from "./etcd-messages.ts";

/** etcd answers a write within its own 7 s, or reports that it cannot. */
const CALL_TIMEOUT_MS = 8_000;
const MAX_ATTEMPTS = 5;
const RETRY_AFTER_MS = { first: 50, most: 1_000 };
/** A member that lost its leader fails requests instead of answering from its own state for ever. */
const REQUIRE_LEADER = { hasleader: "true" };

export interface EtcdClientOptions {
  endpoints: readonly URL[];
  tls?: GrpcChannelOptions["tls"];
  user?: { name: string; password: string };
  clock: Clock;
  log: Log;
}

export interface EtcdClient {
  /** `repeats` says that the call changes nothing, so that it may be carried out twice. */
  call(path: string, message: Uint8Array, repeats: boolean): Promise<Uint8Array>;
  stream(path: string): Promise<GrpcStream>;
  close(): void;
}

export function createEtcdClient({ endpoints, tls, user, clock, log }: EtcdClientOptions): EtcdClient {
  let current: GrpcChannel | undefined;
  let connecting: Promise<GrpcChannel> | undefined;
  let token: string | undefined;
  /** The endpoint that is tried next. */
  let next = 0;
  let isClosed = false;
  const shown = endpoints.map(({ host }) => host).join(", ");

  const metadata = (): Record<string, string> => (token === undefined ? REQUIRE_LEADER : { ...REQUIRE_LEADER, token });

  /** Tries every endpoint once. */
  async function connect(): Promise<GrpcChannel> {
    const failures: GrpcError[] = [];
    for (const _ of endpoints) {
      if (isClosed) throw new StoreError("the etcd store is closed");
      const endpoint = endpoints[next++ % endpoints.length] as URL;
      try {
        const channel = await openGrpcChannel({ endpoint, tls, clock });
        await authenticate(channel);
        if (failures.length > 0) log.info("connected to another etcd endpoint", { endpoint: endpoint.host });
        return (current = channel);
      } catch (error) {
        if (!(error instanceof GrpcError)) throw error;
        if (error.status !== grpcStatus.unavailable && error.status !== grpcStatus.deadlineExceeded) throw error;
        failures.push(error);
      }
    }
    const [first] = failures;
    throw new GrpcError(
      grpcStatus.unavailable,
      `none of the etcd endpoints ${shown} can be used: ${first?.message ?? ""}`,
      false,
      { cause: first },
    );
  }

  async function authenticate(channel: GrpcChannel): Promise<void> {
    if (!user) return;
    const message = renderAuthentication(user.name, user.password);
    token = readToken(await channel.call("/etcdserverpb.Auth/Authenticate", message, {}, CALL_TIMEOUT_MS));
  }

  const channelNow = async (): Promise<GrpcChannel> => {
    if (isClosed) throw new StoreError("the etcd store is closed");
    if (current && !current.isClosed) return current;
    connecting ??= connect().finally(() => (connecting = undefined));
    return connecting;
  };

  function drop(channel: GrpcChannel): void {
    if (current === channel) current = undefined;
    channel.close();
  }

  async function attempt(path: string, message: Uint8Array): Promise<Uint8Array> {
    const channel = await channelNow();
    try {
      return await channel.call(path, message, metadata(), CALL_TIMEOUT_MS);
    } catch (error) {
      if (error instanceof GrpcError) {
        if (isExpiredToken(error)) await authenticate(channel);
        else if (isAboutEndpoint(error)) drop(channel);
      }
      throw error;
    }
  }

  return {
    async call(path, message, repeats) {
      for (
        let count = 1, waitMs = RETRY_AFTER_MS.first;
        ;
        count++, waitMs = Math.min(2 * waitMs, RETRY_AFTER_MS.most)
      ) {
        try {
          return await attempt(path, message);
        } catch (error) {
          if (!(error instanceof GrpcError)) throw error;
          const canRepeat = wasNotCarriedOut(error) || (repeats && isAboutEndpoint(error));
          if (!canRepeat || count === MAX_ATTEMPTS || isClosed) throw storeErrorOf(error);
        }
        await sleep(clock, waitMs);
      }
    },
    async stream(path) {
      const channel = await channelNow();
      return channel.stream(path, metadata());
    },
    close() {
      isClosed = true;
      current?.close();
    },
  };
}

/** A token is also outdated when users or roles of etcd have changed since it was issued. */
const isExpiredToken = ({ message }: GrpcError): boolean =>
  message.includes("invalid auth token") || message.includes("revision of auth store is old");

/** Another endpoint may do better. */
const isAboutEndpoint = ({ status }: GrpcError): boolean =>
  status === grpcStatus.unavailable || status === grpcStatus.deadlineExceeded;

/** etcd rejects these before they enter its log. */
const wasNotCarriedOut = (error: GrpcError): boolean =>
  !error.mayHaveArrived ||
  isExpiredToken(error) ||
  error.message === "etcdserver: no leader" ||
  error.message === "etcdserver: too many requests" ||
  error.message === "etcdserver: rpc not supported for learner";

/** The error for callers of the engine. */
export function storeErrorOf(error: GrpcError): StoreError {
  const { status, message } = error;
  if (message.includes("database space exceeded"))
    return new StoreWriteError(
      "etcd has used up its space quota: compact and defragment it, or raise --quota-backend-bytes, then run 'etcdctl alarm disarm'",
      { cause: error },
    );
  if (message.includes("request is too large"))
    return new StoreError("etcd rejects a write of this size; raise --max-request-bytes of etcd", { cause: error });
  if (isAboutEndpoint(error) || status === grpcStatus.resourceExhausted)
    return new StoreUnavailableError(`etcd is not available: ${message}`, { cause: error });
  if (status === grpcStatus.unauthenticated || status === grpcStatus.permissionDenied)
    return new StoreError(`etcd rejects the credentials of --store: ${message}`, { cause: error });
  return new StoreError(`etcd: ${message}`, { cause: error });
}
