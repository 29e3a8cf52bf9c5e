/**
 * The hub as two processes, `flotilla apiserver` and `flotilla controllers`, walks through Karmada's half of the guide,
 * which `guide.test.ts` follows block by block in one process. Its members are clusters of a third process, reached over HTTP with kubeconfigs.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCommand, noCommands } from "../programs/command-line.ts";
import type { CommandLine } from "../programs/command-line.ts";
import { eventually } from "../programs/eventually.ts";
import { apiserver, flotilla, running, serve, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";
import { MEMBERS, testGuide } from "./seeds-guide.ts";
import type { GuideCommands } from "./seeds-guide.ts";

if (noCommands !== undefined) process.stdout.write(`skipped: the guide on two processes: ${noCommands}\n`);

const LIMIT_MS = 90_000;

describe.runIf(noCommands === undefined)("apiserver and controllers as two processes", { timeout: LIMIT_MS }, () => {
  const [hubData, memberData] = [temporaryDirectory(), temporaryDirectory()];
  let hub: Up;
  let controllers: Up;
  let members: Up;
  let commands: GuideCommands;

  beforeAll(async () => {
    [hub, members] = await Promise.all([
      apiserver(hubData.path),
      up(memberData.path, "--members", "2", "--start-ms", "0", "--ephemeral"),
    ]);
    controllers = await serve(hubData.path, [
      "controllers",
      "--kubeconfig",
      join(hubData.path, "controllers.kubeconfig"),
      "--cluster-success-threshold",
      "0",
    ]);
    for (const name of MEMBERS) {
      const joined = await flotilla(
        "join",
        name,
        "--kubeconfig",
        hub.kubeconfig("hub"),
        "--cluster-kubeconfig",
        members.kubeconfig(name),
      );
      expect(joined.code, joined.stderr).toBe(0);
    }
    const command = (kubeconfig: string): CommandLine => createCommand("kubectl", kubeconfig);
    commands = {
      hub: command(hub.kubeconfig("hub")),
      member1: command(members.kubeconfig("member1")),
      member2: command(members.kubeconfig("member2")),
    };
  }, LIMIT_MS);
  afterAll(async () => {
    const ends = [];
    for (const process of [controllers, hub, members]) ends.push(await process.stop("SIGTERM"));
    for (const { remove } of Object.values(commands)) remove();
    for (const directory of [hubData, memberData]) directory.remove();
    expect(ends.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: expect.any(String) },
      { code: 0, stderr: expect.any(String) },
      { code: 0, stderr: expect.any(String) },
    ]);
  }, LIMIT_MS);

  testGuide(() => commands);

  test("explanations are served by the API server, without the memory of the controllers", async () => {
    const why = await flotilla("why", "cloneset/sample-cloneset", "--kubeconfig", hub.kubeconfig("hub"));

    expect(why.stdout).toContain("CLUSTERS (computed now: the original decision is not recorded)");
    expect(why.stdout).toMatch(/^  member1 +kept +100 +- +2$/m);
  });

  test("a second controllers process stands by, and takes over when the first one stops", async () => {
    const second = running("controllers", "--kubeconfig", join(hubData.path, "controllers.kubeconfig"));
    await eventually(
      "it stands by",
      async () => second.stdout(),
      (text) => /^ready .*standing by; \S+ leads$/m.test(text),
    );

    const { code } = await controllers.stop("SIGTERM");
    await eventually(
      "it says so",
      async () => second.stdout(),
      (text) => /^leading: this process has taken over the controllers$/m.test(text),
    );
    controllers = { ...controllers, stop: () => second.stop("SIGTERM") };

    expect(code).toBe(0);
    await eventually(
      "the second one holds the lease",
      () => commands.hub.run(["get", "lease", "-n", "karmada-system", "flotilla-controllers", "-o", "json"]),
      ({ stdout }) => (JSON.parse(stdout) as { spec: { leaseTransitions?: number } }).spec.leaseTransitions === 1,
    );
  });
});
