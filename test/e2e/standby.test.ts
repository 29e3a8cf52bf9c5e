/** A standby hub as users run it: `--standby-of`, `flotilla promote`, and clients that move alone. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../programs/eventually.ts";
import { apiserver, flotilla, running, temporaryDirectory } from "../programs/flotilla-process.ts";
import type { Running, Up } from "../programs/flotilla-process.ts";
import { freePort } from "../programs/kube.ts";

let folder: ReturnType<typeof temporaryDirectory>;
let ports: readonly [number, number];
const processes: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = temporaryDirectory();
  ports = [await freePort(), await freePort()];
  const { code } = await flotilla("keys", "create", "--keys", at("keys"));
  expect(code).toBe(0);
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((stop) => stop()));
  folder.remove();
});

const at = (name: string): string => join(folder.path, name);
const flagsOf = (index: 0 | 1, ...more: string[]): string[] => [
  "--keys",
  at("keys"),
  "--port",
  String(ports[index]),
  ...more,
];

async function startPrimary(): Promise<Up> {
  const other = ["--other-servers", `https://127.0.0.1:${ports[1]}`];
  const primary = await apiserver(at("one"), ...flagsOf(0, ...other));
  processes.push(() => primary.stop("SIGKILL"));
  return primary;
}

/** It serves nothing yet, so it is not ready. */
async function startStandby(): Promise<Running> {
  const standby = running("apiserver", "--data", at("two"), ...flagsOf(1, "--standby-of", at("one/hub.kubeconfig")));
  processes.push(() => standby.stop());
  await eventually(
    "the standby has a copy",
    () => statusOf(),
    ({ isComplete }) => isComplete === true,
  );
  return standby;
}

async function statusOf(): Promise<{ isComplete?: boolean; objects?: number; isFenced?: boolean; problem?: string }> {
  const { code, stdout } = await flotilla("promote", "--data", at("two"), "--status", "-o", "json");
  return code === 0 ? (JSON.parse(stdout) as { isComplete?: boolean }) : {};
}

async function kubectl(kubeconfig: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await flotilla("kubectl", "--kubeconfig", at(kubeconfig), ...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

test("takes over without a loss, and controllers and commands with several addresses move to it", async () => {
  const primary = await startPrimary();
  await startStandby();
  const controllers = running("controllers", "--kubeconfig", at("one/controllers.kubeconfig"));
  processes.push(() => controllers.stop());
  await kubectl("one/hub.kubeconfig", "create", "configmap", "first", "--from-literal=a=1");

  const promoted = await flotilla("promote", "--data", at("two"));
  const ended = await primary.stop("SIGTERM");

  expect(promoted).toMatchObject({ code: 0 });
  expect(promoted.stdout).toContain("is ended");
  expect(ended.stderr).toContain("this hub was replaced");
  expect(await kubectl("two/hub.kubeconfig", "get", "configmap", "first", "-o", "name")).toBe("configmap/first\n");
  // The kubeconfig names both: our client moves, kubectl asks the first one.
  const moved = await flotilla("get", "configmaps", "--hub", "--kubeconfig", at("one/hub.kubeconfig"));
  expect(moved.stdout).toContain("first");
  const lease = ["get", "lease", "flotilla-controllers", "-n", "karmada-system", "-o", "jsonpath={.spec.renewTime}"];
  const before = await kubectl("two/hub.kubeconfig", ...lease);
  await eventually(
    "the controllers renew their Lease at the new hub",
    () => kubectl("two/hub.kubeconfig", ...lease),
    (renewed) => renewed > before,
  );

  const again = await flotilla("apiserver", "--data", at("one"), ...flagsOf(0));
  expect(again).toMatchObject({ code: 1 });
  expect(again.stderr).toContain("takes no more writes");
});

test("takes over from a lost hub only by force, and ends it when it comes back", async () => {
  const primary = await startPrimary();
  await startStandby();
  const { objects: before = 0 } = await statusOf();
  await kubectl("one/hub.kubeconfig", "create", "configmap", "first", "--from-literal=a=1");
  await eventually(
    "the standby has the object",
    () => statusOf(),
    ({ objects = 0 }) => objects > before,
  );
  await primary.stop("SIGKILL");

  const refused = await flotilla("promote", "--data", at("two"));
  const forced = await flotilla("promote", "--data", at("two"), "--force");

  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain("--force");
  expect(forced).toMatchObject({ code: 0 });
  expect(forced.stdout).toContain("did not answer");
  await kubectl("two/hub.kubeconfig", "create", "configmap", "second", "--from-literal=a=1");

  const back = running("apiserver", "--data", at("one"), ...flagsOf(0));
  processes.push(() => back.stop());
  await eventually(
    "the former hub is ended",
    () => statusOf(),
    ({ isFenced }) => isFenced === true,
  );
  await eventually(
    "it says so",
    async () => back.stderr(),
    (text) => text.includes("this hub was replaced"),
  );
  expect(await kubectl("two/hub.kubeconfig", "get", "configmap", "second", "-o", "name")).toBe("configmap/second\n");
});

test("does not start without the keys of the hub, and kubeconfigs for agents name both hubs", async () => {
  await startPrimary();
  const without = await flotilla(
    "apiserver",
    "--data",
    at("two"),
    "--port",
    "0",
    "--standby-of",
    at("one/hub.kubeconfig"),
  );
  const token = await flotilla(
    "token",
    "--kubeconfig",
    at("one/hub.kubeconfig"),
    "--bootstrap-kubeconfig",
    at("bootstrap"),
  );

  expect(without).toMatchObject({ code: 1 });
  expect(without.stderr).toContain("has no keys of a hub");
  expect(token).toMatchObject({ code: 0 });
  expect(readFileSync(at("bootstrap"), "utf8")).toContain(`https://127.0.0.1:${ports[1]}`);
});
