/** A minimal-cost client: one HTTP/2 connection; responses are counted and not parsed unless requested. */
import http2 from "node:http2";
import { connectionOf, loadKubeconfig } from "@flotilla/client";

export interface ApiConnection {
  /** Only the length of a response longer than `keptBytes` is available. */
  call(
    method: string,
    path: string,
    body?: string,
    contentType?: string,
    keptBytes?: number,
  ): Promise<{ status: number; bytes: number; text(): string }>;
  /** Calls `onLine` with each event of a watch; the returned function stops it. */
  watch(path: string, onLine: (line: string) => void): () => void;
  close(): void;
}

/** Measured lists are counted and discarded. */
const MAX_KEPT_BYTES = 1_000_000;

export async function connectApi(kubeconfig: string): Promise<ApiConnection> {
  const { server, ca, cert, key, token } = await connectionOf(await loadKubeconfig(kubeconfig));
  const prefix = server.pathname.replace(/\/$/, "");
  const authorization = typeof token === "string" ? { authorization: `Bearer ${token}` } : {};
  const session = http2.connect(server.origin, { ca, cert, key, settings: { initialWindowSize: 4 * 1024 * 1024 } });
  await new Promise<void>((resolve, reject) => {
    session.once("connect", () => {
      session.setLocalWindowSize(64 * 1024 * 1024);
      resolve();
    });
    session.once("error", reject);
  });
  session.on("error", () => {}); // Each request reports the error itself.
  return {
    call: (method, path, body, contentType = "application/json", keptBytes = MAX_KEPT_BYTES) =>
      new Promise((resolve, reject) => {
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
        const chunks: Buffer[] = [];
        let status = 0;
        let bytes = 0;
        stream.on("response", (headers) => (status = Number(headers[":status"])));
        stream.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= keptBytes) chunks.push(chunk);
        });
        const text = (): string => {
          if (bytes > keptBytes)
            throw new Error(`the response to ${method} ${path} has ${bytes} bytes, of which ${keptBytes} are kept`);
          return Buffer.concat(chunks).toString();
        };
        stream.on("end", () => resolve({ status, bytes, text }));
        stream.on("error", reject);
        if (body !== undefined) stream.end(body);
      }),
    watch(path, onLine) {
      const stream = session.request({
        ":method": "GET",
        ":path": prefix + path,
        accept: "application/json",
        ...authorization,
      });
      let rest = "";
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) onLine(line);
      });
      stream.on("error", () => {});
      return () => stream.close();
    },
    close: () => session.close(),
  };
}
