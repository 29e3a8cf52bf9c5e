/**
 * The client side of an in-process hub: requests as bytes and headers, streams as they arrive, and a hand-written
 * WebSocket.
 */
import { Duplex } from "node:stream";
import { createProtobufCodec } from "@flotilla/apimachinery";
import type { ApiResponse, ApiServer, UserInfo } from "@flotilla/apiserver";
import type { JsonObject } from "@flotilla/base";
import { kubernetesKinds } from "@flotilla/kubernetes";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const { decode } = createProtobufCodec(kubernetesKinds);

/** The user of a hub's kubeconfig, which `karmadactl` uses. */
const ADMINISTRATOR: UserInfo = { name: "flotilla-admin", groups: ["system:masters", "system:authenticated"] };

interface Sent {
  headers?: Readonly<Record<string, string>>;
  /** Bytes are sent unchanged, anything else as JSON. */
  body?: unknown;
}

interface Received {
  status: number;
  headers: ApiResponse["headers"];
  text: string;
  /** The object in the response, which is JSON or protobuf. */
  readonly body: JsonObject;
}

interface Stream {
  status: number;
  headers: ApiResponse["headers"];
  /** Resolves with all data received so far, once it matches. */
  until(pattern: RegExp): Promise<string>;
  close(): void;
}

export interface Peer {
  ask(method: string, url: string, sent?: Sent): Promise<Received>;
  /** A response that does not end by itself. */
  open(url: string, headers?: Readonly<Record<string, string>>): Promise<Stream>;
  /** A WebSocket as client-go opens one; `refused` if the upgrade is rejected. */
  connect(url: string): Promise<{ socket: PeerSocket; headers: ApiResponse["headers"] } | { refused: Received }>;
}

export function createPeer(server: Pick<ApiServer, "handle">): Peer {
  const send = async (
    method: string,
    url: string,
    { headers = {}, body }: Sent,
    signal: AbortSignal,
    canUpgrade = false,
  ): Promise<ApiResponse> => {
    const [path = "", query] = url.split("?");
    const bytes =
      body === undefined ? new Uint8Array() : body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
    const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    return server.handle({
      method,
      path,
      query: new URLSearchParams(query),
      headers: {
        accept: "application/json, */*",
        "user-agent": "karmadactl/v1.18.1 (linux/amd64)",
        ...type,
        ...headers,
      },
      body: bytes,
      user: ADMINISTRATOR,
      signal,
      canUpgrade,
    });
  };
  const ask: Peer["ask"] = async (method, url, sent = {}) =>
    receivedOf(await send(method, url, sent, new AbortController().signal));
  return {
    ask,
    async open(url, headers = {}) {
      const abort = new AbortController();
      const { status, headers: answered, body } = await send("GET", url, { headers }, abort.signal);
      let text = "";
      let check = (): void => {};
      const stop =
        "open" in body
          ? body.open({
              write: (chunk) => ((text += Buffer.from(chunk).toString()), check(), true),
              onDrain: () => {},
              end: () => {},
            })
          : (): void => {};
      return {
        status,
        headers: answered,
        until: (pattern) =>
          new Promise((resolve) => {
            check = () => {
              if (pattern.test(text)) resolve(text);
            };
            check();
          }),
        close() {
          stop();
          abort.abort();
        },
      };
    },
    async connect(url) {
      const headers = {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-protocol": "v5.channel.k8s.io",
      };
      const answer = await send("GET", url, { headers }, new AbortController().signal, true);
      if (!answer.upgrade) return { refused: await receivedOf(answer) };
      const socket = new PeerSocket();
      answer.upgrade(socket, Buffer.alloc(0));
      return { socket, headers: answer.headers };
    },
  };
}

async function receivedOf({ status, headers, body }: ApiResponse): Promise<Received> {
  const bytes = await bytesOf(body);
  return {
    status,
    headers,
    text: bytes.toString(),
    get body() {
      return headers["content-type"] === PROTOBUF ? decode(bytes) : (JSON.parse(bytes.toString()) as JsonObject);
    },
  };
}

async function bytesOf(body: ApiResponse["body"]): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (!("open" in body)) return Buffer.concat(body);
  const chunks: Uint8Array[] = [];
  await new Promise<void>((end) => {
    body.open({ write: (chunk) => chunks.push(Buffer.from(chunk)) > 0, onDrain: () => {}, end });
  });
  return Buffer.concat(chunks);
}

/** The client end of a WebSocket with Kubernetes' channel protocol: the first byte of a message is its channel. */
class PeerSocket extends Duplex {
  readonly #messages: [number, string][] = [];
  #bytes = Buffer.alloc(0);
  #check = (): void => {};

  override _read(): void {
    // Data from the peer is pushed.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#takeFrame());
    this.#check();
    done();
  }

  #takeFrame(): boolean {
    const short = (this.#bytes[1] ?? 0) & 127;
    const start = short === 126 ? 4 : 2;
    if (this.#bytes.byteLength < start) return false;
    const length = short === 126 ? this.#bytes.readUInt16BE(2) : short;
    if (this.#bytes.byteLength < start + length) return false;
    const data = this.#bytes.subarray(start, start + length);
    if (((this.#bytes[0] ?? 0) & 15) === 2) this.#messages.push([data[0] ?? -1, data.subarray(1).toString()]);
    this.#bytes = this.#bytes.subarray(start + length);
    return true;
  }

  /** The data received on one channel, once it matches. */
  until(channel: number, pattern: RegExp): Promise<string> {
    return new Promise((resolve) => {
      this.#check = () => {
        const text = this.#messages.flatMap(([on, said]) => (on === channel ? [said] : [])).join("");
        if (pattern.test(text)) resolve(text);
      };
      this.#check();
    });
  }
}
