/** The real kubectl on a member that starts without OpenKruise: what appears when its CRDs are installed there. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sleep, systemClock } from "@flotilla/base";
import { createCommand, noCommands } from "../programs/command-line.ts";
import type { CommandLine } from "../programs/command-line.ts";
import { temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

if (noCommands !== undefined) process.stdout.write(`skipped: OpenKruise with kubectl: ${noCommands}\n`);

const CLONE_SET = `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: "web:1" }] }
`;

describe.runIf(noCommands === undefined)("a member without OpenKruise", { timeout: 60_000 }, () => {
  const directory = temporaryDirectory();
  let fleet: Up;
  let hub: CommandLine;
  let member: CommandLine;
  const on = async (command: CommandLine, args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await command.run(args, input);
    expect(code, `kubectl ${args.join(" ")}: ${stderr}`).toBe(0);
    return stdout;
  };
  const until = async (want: string, args: readonly string[]): Promise<void> => {
    let seen = "";
    for (let attempt = 0; attempt < 150 && seen !== want; attempt++) {
      seen = (await member.run(args)).stdout.trim();
      if (seen !== want) await sleep(systemClock, 200);
    }
    expect(seen).toBe(want);
  };

  beforeAll(async () => {
    fleet = await up(directory.path, "--members", "1", "--nodes", "2", "--kruise", "none", "--start-ms", "0");
    hub = createCommand("kubectl", fleet.kubeconfig("hub"));
    member = createCommand("kubectl", fleet.kubeconfig("member1"));
  }, 60_000);
  afterAll(async () => {
    const { code } = await fleet.stop("SIGTERM");
    hub.remove();
    member.remove();
    directory.remove();
    expect(code).toBe(0);
  });

  test("runs CloneSets and shows OpenKruise's own pods once its CRDs are installed", async () => {
    const before = await member.run(["get", "clonesets"]);
    const { metadata, spec, ...definition } = JSON.parse(
      await on(hub, ["get", "crd", "clonesets.apps.kruise.io", "-o", "json"]),
    ) as { metadata: { name: string }; spec: object };

    await on(
      member,
      ["create", "-f", "-"],
      JSON.stringify({ ...definition, status: undefined, metadata: { name: metadata.name }, spec }),
    );
    await on(member, ["wait", "--for=condition=Established", "crd/clonesets.apps.kruise.io", "--timeout=20s"]);
    await until("1", [
      "get",
      "deployment",
      "kruise-controller-manager",
      "-n",
      "kruise-system",
      "-o",
      "jsonpath={.status.readyReplicas}",
    ]);
    await until("2", [
      "get",
      "daemonset",
      "kruise-daemon",
      "-n",
      "kruise-system",
      "-o",
      "jsonpath={.status.numberReady}",
    ]);
    await on(member, ["apply", "-f", "-"], CLONE_SET);
    await until("3", ["get", "cloneset", "web", "-o", "jsonpath={.status.readyReplicas}"]);

    expect(before.code).toBe(1);
    expect(await on(member, ["get", "pods", "-n", "kruise-system", "--no-headers"])).toMatch(
      /^kruise-controller-manager-\S+ +1\/1 +Running.*\nkruise-daemon-\S+ +1\/1 +Running.*\nkruise-daemon-\S+ +1\/1 +Running/,
    );
    expect(await on(member, ["logs", "-n", "kruise-system", "deployment/kruise-controller-manager"])).toContain(
      "controller=cloneset key=default/web",
    );
  });
});
