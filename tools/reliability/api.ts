/**
 * A client that never repeats a request and says what it knows about each: an answer, or none. Connections are made again
 * when they break, and when a request was not answered in time.
 */
import http2 from "node:http2";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { connectionOf, loadKubeconfig } from "@flotilla/client";

const CONNECT_LIMIT_MS = 2_000;
/** Longer than an API server waits for etcd, so that what it makes of a lost answer is seen. */
const ANSWER_LIMIT_MS = 15_000;

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

export interface Api {
  /** Undefined if there was no complete answer: whether the request was carried out is unknown. */
  call(method: string, path: string, body?: object, contentType?: string): Promise<Answer | undefined>;
  /** Calls back with each line; resolves with the status when it ends. `limitMs` is the longest silence. */
  watch(path: string, limitMs: number, onLine: (line: string) => void): Promise<number | undefined>;
  close(): void;
}

/** The credentials of a kubeconfig, at another port of this machine. */
export async function connectApi(kubeconfig: string, port: number): Promise<Api> {
  const { ca, cert, key, token, server } = await connectionOf(await loadKubeconfig(kubeconfig));
  const prefix = server.pathname.replace(/\/$/, "");
  const authorization = typeof token === "string" ? { authorization: `Bearer ${token}` } : {};
  let current: ClientHttp2Session | undefined;
  let isClosed = false;

  const drop = (session: ClientHttp2Session): void => {
    if (current === session) current = undefined;
    session.destroy();
  };

  const connect = async (): Promise<ClientHttp2Session | undefined> => {
    if (current && !current.closed && !current.destroyed) return current;
    if (isClosed) return undefined;
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca, cert, key });
    session.on("error", () => {}); // Each request reports it as no answer.
    session.once("goaway", () => void (current === session && (current = undefined)));
    const isConnected = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), CONNECT_LIMIT_MS);
      const settle = (value: boolean): void => {
        clearTimeout(timer);
        resolve(value);
      };
      session.once("remoteSettings", () => settle(true));
      session.once("close", () => settle(false));
    });
    if (!isConnected || isClosed) {
      session.destroy();
      return undefined;
    }
    return (current = session);
  };

  const request = (
    session: ClientHttp2Session,
    method: string,
    path: string,
    body: object | undefined,
    contentType: string,
  ): ClientHttp2Stream => {
    const stream = session.request(
      {
        ":method": method,
        ":path": prefix + path,
        accept: "application/json",
        "content-type": contentType,
        ...authorization,
      },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(JSON.stringify(body));
    return stream;
  };

  return {
    async call(method, path, body, contentType = "application/json") {
      const session = await connect();
      if (!session) return undefined;
      return new Promise((resolve) => {
        const stream = request(session, method, path, body, contentType);
        const chunks: Buffer[] = [];
        let status = 0;
        const timer = setTimeout(() => {
          drop(session);
          resolve(undefined);
        }, ANSWER_LIMIT_MS);
        stream.on("response", (headers) => (status = Number(headers[":status"])));
        stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
        stream.on("error", () => {});
        let isComplete = false;
        stream.on("end", () => (isComplete = status > 0));
        stream.on("close", () => {
          clearTimeout(timer);
          resolve(isComplete && stream.rstCode === 0 ? answerOf(status, Buffer.concat(chunks).toString()) : undefined);
        });
      });
    },
    async watch(path, limitMs, onLine) {
      const session = await connect();
      if (!session) return undefined;
      return new Promise((resolve) => {
        const stream = request(session, "GET", path, undefined, "application/json");
        let status: number | undefined;
        let rest = "";
        const silence = setTimeout(() => drop(session), limitMs);
        stream.setEncoding("utf8");
        stream.on("response", (headers) => (status = Number(headers[":status"])));
        stream.on("data", (text: string) => {
          silence.refresh();
          const lines = (rest + text).split("\n");
          rest = lines.pop() ?? "";
          if (status === 200) for (const line of lines) if (line !== "") onLine(line);
        });
        stream.on("error", () => {});
        stream.on("close", () => {
          clearTimeout(silence);
          resolve(status);
        });
      });
    },
    close() {
      isClosed = true;
      current?.destroy();
    },
  };
}

/** An answer that is not JSON is cut off, or from no API server. */
function answerOf(status: number, text: string): Answer | undefined {
  try {
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  } catch {
    return undefined;
  }
}
