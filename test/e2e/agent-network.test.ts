/**
 * An agent in a network namespace of its own joins a hub that listens on a non-loopback address. It needs root and the
 * `ip` command.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cluster } from "@flotilla/karmada";
import { connectionOf, createClient, createHttp2Transport, find, loadKubeconfig } from "@flotilla/client";
import { isConditionTrue } from "@flotilla/apimachinery";
import { eventually } from "../programs/eventually.ts";
import { flotilla, runningIn, serve, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

const LIMIT_MS = 120_000;
const NAMESPACE = `flotilla-${process.pid}`;
/** Interface names have at most 15 characters. */
const [OUTER, INNER] = [`flo${process.pid}a`, `flo${process.pid}b`];
/** A network of its own for each process: one that was killed leaves its interfaces behind. */
const NETWORK = `10.203.${process.pid % 256}`;
const [HUB_ADDRESS, AGENT_ADDRESS] = [`${NETWORK}.1`, `${NETWORK}.2`];

const ip = (...args: string[]): void => void execFileSync("ip", args, { stdio: "pipe" });
const inNamespace = ["ip", "netns", "exec", NAMESPACE];

function reasonToSkip(): string | undefined {
  if (process.getuid?.() !== 0) return "it needs root";
  const { status, error } = spawnSync("ip", ["netns", "add", NAMESPACE], { stdio: "pipe" });
  if (error || status !== 0) return "network namespaces cannot be created here (the ip command, CAP_SYS_ADMIN)";
  ip("netns", "del", NAMESPACE);
  return undefined;
}
const skipped = reasonToSkip();
if (skipped !== undefined) process.stdout.write(`skipped: an agent in a network namespace of its own: ${skipped}\n`);

describe.runIf(skipped === undefined)("an agent in another network", { timeout: LIMIT_MS }, () => {
  const [hubData, memberData, files] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  const stops: (() => Promise<unknown>)[] = [];
  let hub: Up;

  beforeAll(async () => {
    ip("netns", "add", NAMESPACE);
    ip("link", "add", OUTER, "type", "veth", "peer", "name", INNER, "netns", NAMESPACE);
    ip("addr", "add", `${HUB_ADDRESS}/30`, "dev", OUTER);
    ip("link", "set", OUTER, "up");
    for (const args of [
      ["addr", "add", `${AGENT_ADDRESS}/30`, "dev", INNER],
      ["link", "set", INNER, "up"],
      ["link", "set", "lo", "up"],
    ])
      ip("-n", NAMESPACE, ...args);
    hub = await up(hubData.path, "--members", "0", "--ephemeral", "--bind-address", HUB_ADDRESS);
    stops.push(() => hub.stop("SIGTERM"));
  }, LIMIT_MS);
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
    spawnSync("ip", ["netns", "del", NAMESPACE], { stdio: "pipe" });
    spawnSync("ip", ["link", "del", OUTER], { stdio: "pipe" });
    for (const folder of [hubData, memberData, files]) folder.remove();
  }, LIMIT_MS);

  test("joins over the hub's address, which kubeconfig and certificate carry", async () => {
    expect(hub.url.startsWith(`https://${HUB_ADDRESS}:`)).toBe(true);
    const member = await serve(
      memberData.path,
      ["up", "--port", "0", "--data", memberData.path, "--members", "1", "--ephemeral"],
      inNamespace,
    );
    stops.push(() => member.stop("SIGTERM"));
    const bootstrap = join(files.path, "bootstrap.kubeconfig");
    const token = await flotilla("token", "--bootstrap-kubeconfig", bootstrap, "--kubeconfig", hub.kubeconfig("hub"));
    expect(token.code, token.stderr).toBe(0);

    const agent = runningIn(
      inNamespace,
      "agent",
      "--bootstrap-kubeconfig",
      bootstrap,
      "--cluster-kubeconfig",
      member.kubeconfig("member1"),
      "--cluster-name",
      "paris",
      "--state",
      join(files.path, "state"),
    );
    stops.push(() => agent.stop());
    const accepted = await flotilla("accept", "paris", "--kubeconfig", hub.kubeconfig("hub"), "--wait", "60");
    expect(accepted.code, accepted.stderr).toBe(0);

    const transport = createHttp2Transport({
      ...(await connectionOf(await loadKubeconfig(hub.kubeconfig("hub")))),
      cluster: { root: "hub" },
    });
    stops.push(() => transport.close());
    const client = createClient({ transport, fieldManager: "test" });
    const cluster = await eventually(
      "the member is ready",
      () => find(client, Cluster, { cluster: "hub", name: "paris" }),
      (found) => isConditionTrue(found?.status?.conditions ?? [], "Ready"),
    );
    expect(cluster?.spec.syncMode).toBe("Pull");
  });
});
