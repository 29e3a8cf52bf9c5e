/** Sends JSON to the server of a kubeconfig, as Kubernetes configures webhooks of the API server itself. */
import { FlotillaError } from "@flotilla/base";
import { resolve } from "node:path";
import { connectionOf, createHttp2Transport, loadKubeconfig, readText } from "@flotilla/client";

const MAX_BYTES = 1024 * 1024;

/** Resolves with the body of a successful answer. */
export type Post = (body: Buffer, signal: AbortSignal) => Promise<string>;

export async function postTo(kubeconfig: string): Promise<Post> {
  const { server, ...connection } = await connectionOf(await loadKubeconfig(resolve(kubeconfig)));
  const path = `${server.pathname}${server.search}`;
  const transport = createHttp2Transport({
    ...connection,
    server: new URL(server.origin),
    cluster: { only: "webhook" },
    userAgent: "flotilla-apiserver",
  });
  return async (body, signal) => {
    const headers = { "content-type": "application/json" };
    const { status, body: answer } = await transport.raw(
      { method: "POST", cluster: "webhook", path, headers, body },
      signal,
    );
    const text = await readText(answer, MAX_BYTES);
    if (status < 200 || status > 299)
      throw new FlotillaError("Webhook", `the webhook answered ${status}: ${text.slice(0, 200)}`);
    return text;
  };
}
