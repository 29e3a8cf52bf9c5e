/** A client that costs as little as possible: one HTTP/2 connection, answers counted and not parsed unless asked. */
import http2 from "node:http2";
import { connectionOf, loadKubeconfig } from "../../src/client/index.ts";

export interface ApiConnection {
  /** Of a longer answer than `keptBytes` nothing can be read but its length. */
  call(
    method: string,
    path: string,
    body?: string,
    contentType?: string,
    keptBytes?: number,
  ): Promise<{ status: number; bytes: number; text(): string }>;
  /** Calls `onLine` with each event of a watch; the returned function ends it. */
  watch(path: string, onLine: (line: string) => void): () => void;
  close(): void;
}

/** Lists that are measured are counted and let go. */
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
  session.on("error", () => {}); // Requests report it, each for itself.
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
            throw new Error(`${method} ${path} was answered with ${bytes} bytes, of which ${keptBytes} are kept`);
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
