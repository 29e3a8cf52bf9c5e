/**
 * The suite `clients`: the checks of every installed client on a member of a temporary fleet, each in its own namespace.
 * What is not installed is skipped with the reason; `tools/conformance/clients/install.ts` installs it.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "@flotilla/base";
import { startFlotilla } from "../bench/process.ts";
import { findClients } from "./clients/programs.ts";
import type { Absent, Client } from "./clients/programs.ts";

const execute = promisify(execFile);
const LIMIT_MS = 240_000;

interface ClientResult {
  client: string;
  passed: number;
  /** `exec: reason`. */
  failed: readonly string[];
}

/** Returns the exit code. `kubeconfig` unset starts a fleet. */
export async function runClients(
  kubeconfig: string | undefined,
  focus: RegExp | undefined,
): Promise<{ code: number; table: string }> {
  const { clients, absent } = findClients();
  const selected = clients.filter(({ name }) => focus?.test(name) ?? true);
  for (const { name, reason } of absent) process.stdout.write(`skipped ${name}: ${reason}\n`);
  const fleet = kubeconfig === undefined ? await startFlotilla(["--members", "1", "--nodes", "2"]) : undefined;
  const results: ClientResult[] = [];
  try {
    for (const [index, client] of selected.entries()) {
      const result = await runClient(client, kubeconfig ?? fleet?.kubeconfig("member1") ?? "", `client-${index}`);
      results.push(result);
      process.stdout.write(
        `${result.failed.length === 0 ? "passed " : "failed "} ${client.name}: ${result.passed} checks\n`,
      );
      for (const failure of result.failed) process.stdout.write(`        ${failure}\n`);
    }
  } finally {
    await fleet?.stop();
  }
  return {
    code: results.some(({ failed }) => failed.length > 0) || results.length === 0 ? 1 : 0,
    table: renderClients(results, absent),
  };
}

async function runClient({ name, start }: Client, kubeconfig: string, namespace: string): Promise<ClientResult> {
  const files = mkdtempSync(join(tmpdir(), "flotilla-client-"));
  const [program, args] =
    "script" in start
      ? ["sh", [join(import.meta.dirname, "clients", `${start.script}.sh`), start.program, namespace, files]]
      : [start.program, [...start.args, kubeconfig, namespace]];
  // Caches of discovery and charts must not be shared between versions.
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: files };
  let output = "";
  let problem: string | undefined;
  try {
    output = (await execute(program, args, { timeout: LIMIT_MS, env })).stdout;
  } catch (error) {
    output = (error as { stdout?: string }).stdout ?? "";
    problem = messageOf(error).split("\n", 1)[0];
  } finally {
    rmSync(files, { recursive: true, force: true });
  }
  return { client: name, ...readOutput(output, problem) };
}

/** Lines `ok NAME` and `failed NAME: reason`. */
export function readOutput(output: string, problem?: string): { passed: number; failed: string[] } {
  const lines = output.split("\n");
  const failed = lines.filter((line) => line.startsWith("failed ")).map((line) => line.slice("failed ".length));
  const passed = lines.filter((line) => line.startsWith("ok ")).length;
  if (problem !== undefined) failed.push(`the program ended early: ${problem}`);
  else if (passed + failed.length === 0) failed.push("the program checked nothing");
  return { passed, failed };
}

export function renderClients(results: readonly ClientResult[], absent: readonly Absent[]): string {
  return [
    "| client | passed | failed |",
    "|---|---|---|",
    ...results.map(({ client, passed, failed }) => `| ${client} | ${passed} | ${failed.join("; ") || "none"} |`),
    ...absent.map(({ name }) => `| ${name} | not installed | |`),
    "",
  ].join("\n");
}
