/** The real kubectl against the shipped command: the first commands of a user. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { required, sleep, systemClock } from "@flotilla/base";
import { fromPackage, seekKubectl } from "@flotilla/cli";
import type { Kubectl } from "@flotilla/cli";
import { flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

const EXAMPLE = fileURLToPath(new URL("../../examples/shop/shop.yaml", import.meta.url));
const testdata = (name: string): string => fileURLToPath(new URL(`testdata/${name}`, import.meta.url));
const hasKubectl = fromPackage() !== undefined;
if (!hasKubectl) process.stdout.write("skipped: the npm package that carries kubectl has one for Linux on x64 only\n");

describe.runIf(hasKubectl)("kubectl", { timeout: 60_000 }, () => {
  const directory = temporaryDirectory();
  let fleet: Up;
  let kubectl: Kubectl;
  const hub = (...args: string[]): Promise<string> => kubectl(args, fleet.kubeconfig("hub"));
  const member = (name: string, ...args: string[]): Promise<string> => kubectl(args, fleet.kubeconfig(name));
  const until = async (want: string, read: () => Promise<string>): Promise<void> => {
    let seen = "";
    for (let attempt = 0; attempt < 150 && seen !== want; attempt++) {
      seen = await read();
      if (seen !== want) await sleep(systemClock, 200);
    }
    expect(seen).toBe(want);
  };

  beforeAll(async () => {
    kubectl = required(seekKubectl(process.env), "kubectl");
    fleet = await up(directory.path, "--members", "3");
  }, 60_000);
  afterAll(async () => {
    const { code } = await fleet.stop("SIGTERM");
    directory.remove();
    expect(code).toBe(0);
  });

  test("propagates a CloneSet of 10 with weights 2:1:1: 5, 2 and 3 pods run, and the hub reports 10", async () => {
    await hub("apply", "-f", EXAMPLE);

    await until("10", () => hub("get", "cloneset", "web", "-n", "shop", "-o", "jsonpath={.status.readyReplicas}"));
    // Webster's method gives member1 five; the last seat is a tie, which the object's uid breaks.
    const shares = await Promise.all(
      ["member1", "member2", "member3"].map(
        async (name) =>
          (await member(name, "get", "pods", "-n", "shop", "-l", "app=web", "-o", "name")).trim().split("\n").length,
      ),
    );
    expect(shares[0]).toBe(5);
    expect(shares.toSorted((a, b) => a - b)).toEqual([2, 3, 5]);
  });

  test("applying again writes nothing", async () => {
    // A policy's status write may still be pending; its generation shows whether the policy was written.
    const versions = (): Promise<string> =>
      hub(
        "get",
        "-f",
        EXAMPLE,
        "-o",
        'jsonpath={.items[?(@.kind!="PropagationPolicy")].metadata.resourceVersion} {.items[?(@.kind=="PropagationPolicy")].metadata.generation}',
      );
    const before = await versions();

    // kubectl prints "configured" if a default was filled into a list; only the absence of writes matters.
    await hub("apply", "-f", EXAMPLE);

    expect(await versions()).toBe(before);
  });

  test("applies on the server side, and a second manager gets a conflict", async () => {
    await hub("apply", "--server-side", "--force-conflicts", "-f", EXAMPLE);

    await expect(hub("apply", "--server-side", "--field-manager=other", "-f", testdata("scaled.yaml"))).rejects.toThrow(
      /conflict with "kubectl".*\.spec\.replicas/s,
    );
  });

  test("scales, edits images and watches a rollout", async () => {
    await hub("scale", "deployment/cart", "-n", "shop", "--replicas=8");
    await hub("set", "image", "deployment/cart", "cart=registry.example.com/shop/cart:2.0", "-n", "shop");

    expect(await hub("rollout", "status", "deployment/cart", "-n", "shop", "--timeout=50s")).toContain(
      'deployment "cart" successfully rolled out',
    );
    await until("4", () =>
      member("member1", "get", "deployment", "cart", "-n", "shop", "-o", "jsonpath={.status.updatedReplicas}"),
    );
  });

  test("creates, explains, describes and deletes", async () => {
    await hub("create", "namespace", "made-by-hand");
    await hub("create", "configmap", "settings", "-n", "made-by-hand", "--from-literal=colour=blue");

    expect(await hub("get", "configmap", "settings", "-n", "made-by-hand", "-o", "jsonpath={.data.colour}")).toBe(
      "blue",
    );
    expect(await hub("explain", "cloneset.spec.replicas")).toContain("replicas <integer>");
    expect(await hub("explain", "propagationpolicy", "--recursive")).not.toContain("<no description>");
    expect(await hub("explain", "propagationpolicy.spec.placement")).toContain("Ignored with static weights");
    expect(await hub("describe", "deployment", "cart", "-n", "shop")).toContain("registry.example.com/shop/cart:2.0");
    await hub("delete", "namespace", "made-by-hand", "--wait=true", "--timeout=30s");
    await expect(hub("get", "namespace", "made-by-hand")).rejects.toThrow('namespaces "made-by-hand" not found');
  });

  test("reports errors", async () => {
    await expect(hub("get", "nothings")).rejects.toThrow(`the server doesn't have a resource type "nothings"`);
    await expect(hub("get", "deployment", "absent", "-n", "shop")).rejects.toThrow(
      'deployments.apps "absent" not found',
    );
    await expect(
      hub("patch", "deployment", "cart", "-n", "shop", "--type=merge", "-p", '{"spec":{"replicas":-1}}'),
    ).rejects.toThrow(/spec\.replicas: Invalid value: -1/);
    await expect(hub("apply", "-n", "shop", "--validate=strict", "-f", testdata("misspelt.yaml"))).rejects.toThrow(
      /unknown field "spec\.replica"/,
    );
  });

  test("shows the fleet with flotilla status", async () => {
    const { code, stdout } = await flotilla("status", "--data", directory.path, "-o", "json");

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      members: [{ name: "member1", ready: "True", nodes: "3/3" }, { name: "member2" }, { name: "member3" }],
    });
  });
});
