/**
 * The guide to OpenKruise with Karmada on `flotilla up --members 2`; real members walk through it in
 * `real-members.test.ts`.
 */
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createCommand, noCommands } from "../contract/apiserver/command-line.ts";
import type { CommandLine } from "../contract/apiserver/command-line.ts";
import { temporaryDirectory, up } from "./flotilla-process.ts";
import type { Up } from "./flotilla-process.ts";
import { testGuide } from "./seeds-guide.ts";
import type { GuideCommands } from "./seeds-guide.ts";

if (noCommands !== undefined) process.stdout.write(`skipped: the guide with kubectl: ${noCommands}\n`);

describe.runIf(noCommands === undefined)("the guide with kubectl", { timeout: 60_000 }, () => {
  const directory = temporaryDirectory();
  let fleet: Up;
  let commands: GuideCommands;

  beforeAll(async () => {
    fleet = await up(directory.path, "--members", "2", "--start-ms", "0");
    const command = (cluster: string): CommandLine => createCommand("kubectl", fleet.kubeconfig(cluster));
    commands = { hub: command("hub"), member1: command("member1"), member2: command("member2") };
  }, 60_000);
  afterAll(async () => {
    const { code } = await fleet.stop("SIGTERM");
    for (const { remove } of Object.values(commands)) remove();
    directory.remove();
    expect(code).toBe(0);
  });

  testGuide({ commands: () => commands, hasLogs: true });
});
