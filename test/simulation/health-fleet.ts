/**
 * A fleet for tests of what `flotilla status`, `why` and `doctor` report: every case has a namespace of one hub, and
 * the commands run as users run them.
 */
import type { JsonObject } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { CHECKS } from "../../packages/cli/src/doctor/checks/index.ts";
import type { DoctorFinding } from "../../packages/cli/src/doctor/check.ts";
import { createHubLists } from "../../packages/cli/src/doctor/context.ts";
import { slimObject } from "../../packages/cli/src/doctor/slim.ts";
import { surroundings } from "../../packages/cli/src/doctor/surroundings.ts";
import { runCommand } from "./run-command.ts";

export type Manifest = JsonObject & { apiVersion: string; kind: string; metadata: JsonObject & { name: string } };

export interface HealthFleet {
  fleet: TestFleet;
  /** Creates objects on a cluster. */
  create(cluster: string, ...objects: Manifest[]): Promise<void>;
  /** A JSON merge patch. */
  patch(cluster: string, object: Manifest, change: JsonObject): Promise<void>;
  remove(cluster: string, object: Manifest): Promise<void>;
  /** What a command prints. */
  run(name: string, ...argv: string[]): Promise<string>;
  /** Problems of all checks that do not concern this machine, without the limit of the report. */
  doctor(): Promise<DoctorFinding[]>;
}

/** A broken fleet, in a namespace of its own. */
export interface Broken {
  /** Creates it in the namespace, on the hub. */
  hub(namespace: string): Manifest[];
  /** Exists on the member `m1` before. */
  member?(namespace: string): Manifest[];
  /** Once the fleet runs. */
  next?(fleet: HealthFleet, namespace: string): Promise<void>;
  /** The argument of `flotilla why`; `deployment/web` if unset. */
  why?: string;
  /** `-n` of `flotilla why`, if it is not the namespace of the case. */
  whyIn?: string;
  /** The cause. */
  cause: RegExp;
  /** `-n` of `flotilla status`, if it is not the namespace of the case. */
  statusIn?: string;
  /** `flotilla status` and `doctor` do not report it. */
  only?: "why";
}

/** Checks of this machine: its disks, certificates and clock. */
const OF_THIS_MACHINE = new Set(["data", "certificates", "clocks", "versions"]);
const STUCK_AFTER_MS = 60_000;

export async function startHealthFleet(options: TestFleetOptions): Promise<HealthFleet> {
  const fleet = await startTestFleet(options);
  const { client, clock } = fleet;
  const { signal } = new AbortController();
  const kindOf = (cluster: string, object: Manifest) => createKindResolver({ client, cluster }).resolve(object);
  const keyOf = (cluster: string, { metadata: { namespace, name } }: Manifest) => ({
    cluster,
    namespace: typeof namespace === "string" ? namespace : undefined,
    name,
  });
  return {
    fleet,
    async create(cluster, ...objects) {
      for (const object of objects) await client.create(await kindOf(cluster, object), cluster, object);
    },
    async patch(cluster, object, change) {
      await client.patch(await kindOf(cluster, object), keyOf(cluster, object), change, { type: "merge" });
    },
    async remove(cluster, object) {
      await client.delete(await kindOf(cluster, object), keyOf(cluster, object));
    },
    async run(name, ...argv) {
      return (await runCommand({ client, clock }, name, ...argv)).text;
    },
    async doctor() {
      const lists = createHubLists({ client, signal, slim: slimObject });
      const context = {
        client,
        server: "https://hub.example.com",
        access: { kubeconfigs: ["hub.kubeconfig"] },
        data: "",
        clock,
        signal,
        only: undefined,
        surroundings,
        lists,
        checks: new Set(CHECKS.map(({ name }) => name)),
      };
      const now = { nowMs: clock.now(), stuckAfterMs: STUCK_AFTER_MS };
      const found = await Promise.all(
        CHECKS.filter(({ name }) => !OF_THIS_MACHINE.has(name)).map(async (check) => check.run(context, now)),
      );
      return found.flatMap(({ findings }) => findings);
    },
  };
}

/** The first three lines of the problems that `flotilla status` lists; none if it lists none. */
export function problemsOfStatus(text: string): string[] {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith("UNHEALTHY:"));
  if (start < 0) return [];
  const end = lines.indexOf("", start);
  return lines.slice(start + 1, Math.min(end < 0 ? lines.length : end, start + 4));
}

/** The same for `flotilla why`, whose problems are followed by what to do. */
export function problemsOfWhy(text: string): string[] {
  const lines = text.split("\n");
  const start = lines.indexOf("PROBLEMS");
  return lines
    .slice(start + 1)
    .filter((line) => line.trim() !== "none" && line.trim() !== "")
    .slice(0, 3);
}
