/**
 * A key management plugin (KMS v2 of Kubernetes): gRPC on a Unix socket. The plugin is another program, so its answers are
 * bounded in time and size. Nothing that it sends or gets is logged.
 */
import { createSemaphore } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { GrpcError, grpcStatus, openGrpcChannel } from "../store/grpc/grpc-channel.ts";
import type { GrpcChannel } from "../store/grpc/grpc-channel.ts";
import {
  readDecryptAnswer,
  readEncryptAnswer,
  readStatusAnswer,
  renderDecrypt,
  renderEncrypt,
} from "./kms-messages.ts";
import type { KmsStatus, WrappedKey } from "./kms-messages.ts";

export interface KmsPlugin {
  status(): Promise<KmsStatus>;
  /** `uid` appears in the logs of the plugin. */
  encrypt(plain: Uint8Array, uid: string): Promise<WrappedKey>;
  decrypt(wrapped: WrappedKey, uid: string): Promise<Uint8Array>;
  close(): void;
}

const SERVICE = "/v2.KeyManagementService";
/** Keys and their annotations have a few kilobytes. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_CALLS = 8;

export function createKmsPlugin(options: { socketPath: string; timeoutMs: number; clock: Clock }): KmsPlugin {
  const { socketPath, timeoutMs, clock } = options;
  const turns = createSemaphore(MAX_CALLS);
  let channel: GrpcChannel | undefined;
  let opening: Promise<GrpcChannel> | undefined;
  let isClosed = false;

  async function connect(): Promise<GrpcChannel> {
    if (channel && !channel.isClosed) return channel;
    opening ??= openGrpcChannel({
      endpoint: new URL("http://kms"),
      socketPath,
      maxMessageBytes: MAX_ANSWER_BYTES,
      clock,
    }).finally(() => (opening = undefined));
    const opened = await opening;
    if (isClosed) {
      opened.close();
      throw new GrpcError(grpcStatus.unavailable, "the plugin is no longer used", false);
    }
    return (channel = opened);
  }

  async function call(method: string, message: Uint8Array): Promise<Uint8Array> {
    const release = await turns.acquire(1);
    try {
      return await (await connect()).call(`${SERVICE}/${method}`, message, {}, timeoutMs);
    } finally {
      release();
    }
  }

  return {
    status: async () => readStatusAnswer(await call("Status", new Uint8Array())),
    encrypt: async (plain, uid) => readEncryptAnswer(await call("Encrypt", renderEncrypt(plain, uid))),
    decrypt: async (wrapped, uid) => readDecryptAnswer(await call("Decrypt", renderDecrypt(wrapped, uid))),
    close() {
      isClosed = true;
      channel?.close();
    },
  };
}
