/**
 * A fleet for tests of what `flotilla status`, `why` and `doctor` report: every case has a namespace of one hub, and
 * the commands run as users run them.
 */
import type { JsonObject } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { CHECKS } from "../../packages/cli/src/doctor/checks/index.ts";
import type { DoctorFinding } from "../../packages/cli/src/doctor/doctor-check.ts";
import { renderDoctor } from "../../packages/cli/src/doctor/render-doctor.ts";
import { runChecks } from "../../packages/cli/src/doctor/run-checks.ts";
import { plain } from "../../packages/cli/src/paint.ts";
import { createHubLists } from "../../packages/cli/src/doctor/context.ts";
import { slimObject } from "../../packages/cli/src/doctor/slim-objects.ts";
import { localEnvironment } from "../../packages/cli/src/doctor/local-environment.ts";
import { runCommand } from "./run-command.ts";

export type Manifest = JsonObject & { apiVersion: string; kind: string; metadata: JsonObject & { name: string } };

export interface HealthFleet {
  fleet: TestFleet;
  /** Creates objects on a cluster. */
  create(cluster: string, ...objects: Manifest[]): Promise<void>;
  /** A JSON merge patch. */
  patch(cluster: string, object: Manifest, change: JsonObject): Promise<void>;
  remove(cluster: string, object: Manifest): Promise<void>;
  /** What a command prints without a terminal. */
  run(name: string, ...argv: string[]): Promise<string>;
  /** What a command prints on a terminal of 80 columns. */
  show(name: string, ...argv: string[]): Promise<string>;
  /** Runs the checks of `flotilla doctor` that do not concern this machine. */
  doctor(): Promise<Examination>;
}

export interface Examination {
  /** Without the limit of the report. */
  findings: readonly DoctorFinding[];
  /** What `flotilla doctor` prints for a fleet in which only what matches `own` was found or not checked. */
  print(own?: RegExp): Promise<string>;
}

/** A broken fleet, in a namespace of its own. */
export interface Broken {
  /** Creates it in the namespace, on the hub. */
  hub(namespace: string): Manifest[];
  /** Exists on the member `m1` before. */
  member?(namespace: string): Manifest[];
  /** The member `m1` answers so to every write in the namespace. */
  refuses?: { code: number; reason: string; message: string };
  /** Once the fleet runs. */
  next?(fleet: HealthFleet, namespace: string): Promise<void>;
  /** The argument of `flotilla why`; `deployment/web` if unset. */
  why?: string;
  /** `-n` of `flotilla why`, if it is not the namespace of the case. */
  whyIn?: string;
  /** The cause. */
  cause: RegExp;
  /** A second cause. Each command names both, one of them in its first lines. */
  also?: RegExp;
  /** `-n` of `flotilla status`, if it is not the namespace of the case. */
  statusIn?: string;
  /** The findings of `flotilla doctor` that are about it; those that name the namespace if unset. */
  doctorAbout?: RegExp;
  /** The other commands do not report it. */
  only?: readonly ("why" | "status" | "doctor")[];
}

/** Checks of this machine: its disks and certificates. */
const OF_THIS_MACHINE = new Set(["data", "certificates", "versions"]);
const STUCK_AFTER_MS = 60_000;
const LIMIT_MS = 20_000;
/** The narrowest terminal that is usual: text for a wider one has fewer lines. */
const COLUMNS = 80;

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
    async show(name, ...argv) {
      return (await runCommand({ client, clock, width: COLUMNS }, name, ...argv)).text;
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
        localEnvironment,
        lists,
        checks: new Set(CHECKS.map(({ name }) => name)),
      };
      const judged = await Promise.all(
        CHECKS.filter(({ name }) => !OF_THIS_MACHINE.has(name)).map(async (check) => ({
          check,
          judgement: await check.run(context, { nowMs: clock.now(), stuckAfterMs: STUCK_AFTER_MS }),
        })),
      );
      return {
        findings: judged.flatMap(({ judgement }) => judgement.findings),
        async print(own = /(?:)/) {
          // One finding may be about several objects, of which it names the first.
          const isOwn = ({ about, seen, commands }: DoctorFinding): boolean =>
            own.test(`${about} ${seen} ${commands.join(" ")}`);
          const checks = judged.map(({ check, judgement }) => ({
            ...check,
            run: () =>
              Promise.resolve({
                ...judgement,
                findings: judgement.findings.filter(isOwn),
                unseen: judgement.unseen?.filter((line) => own.test(line)) ?? [],
              }),
          }));
          const report = await runChecks(checks, context, { stuckAfterMs: STUCK_AFTER_MS, limitMs: LIMIT_MS });
          return renderDoctor(report, { paint: plain, width: COLUMNS });
        },
      };
    },
  };
}

/** As a user reads the first three lines, across the ends of lines. */
export const readFirst = (text: string): string => firstLines(text).join(" ").replaceAll(/\s+/g, " ").trim();

/** As a user reads all of it, across the ends of lines. */
export const readAll = (text: string): string => text.replaceAll(/\s+/g, " ");

/** Titles of sections; they are followed by counts, or by nothing. */
const TITLES = /^(?:UNHEALTHY:|WAITING:|PROBLEMS$|NOT CHECKED:?$)/;

/**
 * The first three lines that a user reads after the header. The header is the first paragraph, which names the hub with
 * its components, or the object. Blank lines and the titles of sections say nothing and do not count; every other line
 * does, also one about what was not checked.
 */
function firstLines(text: string): string[] {
  const lines = text.split("\n");
  return lines
    .slice(lines.indexOf("") + 1)
    .filter((line) => line.trim() !== "" && !TITLES.test(line))
    .slice(0, 3);
}

/** Whether a command printed problems. */
export const hasProblems = (text: string): boolean =>
  text
    .split("\n")
    .some((line, index, lines) =>
      line === "PROBLEMS"
        ? !lines[index + 1]?.trim().startsWith("none")
        : /^(?:UNHEALTHY:|WAITING:|PROBLEM |WARNING )/.test(line),
    );
/** The lines of problems that `flotilla status` lists without a terminal; none if it lists none. */
export function problemsOfStatus(text: string): string[] {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith("UNHEALTHY:"));
  return start < 0 ? [] : lines.slice(start + 1, lines.indexOf("", start));
}
