/**
 * Sends JSON to the server of a kubeconfig, as Kubernetes configures webhooks of the API server itself. The kubeconfig is read
 * again, at most every ten seconds, and a changed one is used; one that cannot be read leaves the one before in use.
 */
import { FlotillaError, messageOf } from "@flotilla/base";
import type { Clock, JsonObject, Log } from "@flotilla/base";
import { resolve } from "node:path";
import { connectionOf, createHttp2Transport, loadKubeconfig, readText } from "@flotilla/client";
import type { Kubeconfig } from "@flotilla/client";

const MAX_BYTES = 1024 * 1024;
const CHECK_EVERY_MS = 10_000;

/** Resolves with the body of a successful answer. */
type Post = (body: Buffer, signal: AbortSignal) => Promise<string>;

export interface PostDependencies {
  /** The flag that names the kubeconfig. */
  flag: string;
  clock: Clock;
  log: Log;
  /** What came of a change of the kubeconfig. */
  onReload(status: "success" | "failure"): void;
}

export interface KubeconfigServer {
  readonly post: Post;
  /**
   * Another server is called instead: closes its connections when the last call has ended, and no longer reads the kubeconfig.
   * Calls that come later, of requests that began before, are answered as well; their connection is closed after them.
   */
  retire(): void;
}

/** Throws when the kubeconfig cannot be used. */
export async function postTo(
  kubeconfig: string,
  { flag, clock, log, onReload }: PostDependencies,
): Promise<KubeconfigServer> {
  const file = resolve(kubeconfig);
  let target = await readTarget(file);
  let checkedMs = clock.now();
  let problem: string | undefined;
  let isRetired = false;

  async function follow(): Promise<void> {
    if (isRetired || clock.now() < checkedMs + CHECK_EVERY_MS) return;
    checkedMs = clock.now();
    try {
      const next = await readTarget(file);
      problem = undefined;
      // It may have been retired while the file was read.
      if (isRetired) return;
      if (next.identity === target.identity) return;
      target.retire();
      target = next;
      onReload("success");
      log.info("a changed configuration is in use", { flag, file });
    } catch (error) {
      if (problem === messageOf(error)) return;
      problem = messageOf(error);
      onReload("failure");
      log.error("a changed configuration cannot be used; the one before stays in use", { flag, file, error });
    }
  }

  return {
    async post(body, signal) {
      await follow();
      return target.post(body, signal);
    },
    retire() {
      isRetired = true;
      target.retire();
    },
  };
}

interface Target extends KubeconfigServer {
  /** Equal for equal kubeconfigs with equal certificates. The connection itself follows the contents of a token file. */
  readonly identity: string;
}

/** The entries in use: a connection has what their files contain, but hides the names of token files and programs in functions. */
function settingsOf({ contexts, clusters, users, currentContext = "" }: Kubeconfig): (JsonObject | undefined)[] {
  const { cluster = "", user = "" } = contexts.get(currentContext) ?? {};
  return [clusters.get(cluster), users.get(user)];
}

async function readTarget(file: string): Promise<Target> {
  const config = await loadKubeconfig(file);
  const connection = await connectionOf(config);
  const { server } = connection;
  const path = `${server.pathname}${server.search}`;
  let calls = 0;
  let isRetired = false;
  let transport: ReturnType<typeof createHttp2Transport> | undefined;
  const end = (): void => {
    if (!isRetired || calls > 0) return;
    void transport?.close();
    // A closed transport rejects every call, and a late call must be answered.
    transport = undefined;
  };
  return {
    identity: JSON.stringify([connection, settingsOf(config)]),
    async post(body, signal) {
      // Most kubeconfigs that are read are those that are in use already.
      transport ??= createHttp2Transport({
        ...connection,
        server: new URL(server.origin),
        cluster: { only: "webhook" },
        userAgent: "flotilla-apiserver",
      });
      calls++;
      try {
        const headers = { "content-type": "application/json" };
        const answer = await transport.raw({ method: "POST", cluster: "webhook", path, headers, body }, signal);
        const text = await readText(answer.body, MAX_BYTES);
        if (answer.status < 200 || answer.status > 299)
          throw new FlotillaError("Webhook", `the webhook answered ${answer.status}: ${text.slice(0, 200)}`);
        return text;
      } finally {
        calls--;
        end();
      }
    },
    retire() {
      isRetired = true;
      end();
    },
  };
}
