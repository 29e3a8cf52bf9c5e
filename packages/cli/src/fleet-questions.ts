/**
 * What commands compute about a fleet, for other readers such as the console: the same functions, so both give the same
 * answers. Loaded lazily, like the commands.
 */
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { ResourceBinding } from "@flotilla/karmada";
import type { Explanation } from "@flotilla/flotilla";
import type { KubeconfigAccess } from "./command.ts";
import type { DoctorReport } from "./doctor/run-checks.ts";
import type { PlanResult } from "./explain/plan-input.ts";
import type { FleetStatus, MemberStatus, WorkloadStatus } from "./status/fleet-status.ts";
import type { MemberInput } from "./status/members.ts";
import type { StatusQuestion } from "./status/read-status.ts";

interface Asking {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
}

/** The pure functions that make rows of objects. */
export interface FleetSummaries {
  members(input: MemberInput): MemberStatus[];
  workload(binding: DeepReadonly<ResourceBinding>): WorkloadStatus;
}

export const fleetQuestions = {
  /** `flotilla status` */
  status: async (question: StatusQuestion): Promise<FleetStatus> =>
    (await import("./status/read-status.ts")).readStatus(question),

  /** `flotilla why` */
  why: async (
    object: { type: string; name: string; namespace: string },
    asking: Asking,
  ): Promise<DeepReadonly<Explanation>> => (await import("./commands/why.ts")).readWhy(object, asking),

  /** `flotilla plan`; the manifests are a YAML text with one document or several. */
  async plan(
    { text, without, namespace }: { text: string; without: readonly string[]; namespace: string },
    asking: Asking,
  ): Promise<PlanResult & { changesMembers: boolean }> {
    const [{ planInput, mayChangeMembers }, { withUnreachable }] = await Promise.all([
      import("./explain/plan-input.ts"),
      import("./explain/unreachable-members.ts"),
    ]);
    const manifests = await readTexts(text);
    const planned = await planInput(asking.client, { manifests, without, namespace }, asking.clock, asking.signal);
    const plan = await withUnreachable(planned, without, asking);
    return { ...plan, changesMembers: mayChangeMembers(plan) };
  },

  /** The objects of a YAML text. */
  manifests: (text: string): Promise<JsonObject[]> => readTexts(text),

  /** `flotilla doctor`, without the checks that read this machine unless the hub runs on it. */
  async doctor(asking: Asking & DoctorQuestion): Promise<DoctorReport> {
    const { client, server, access, data, clock, signal } = asking;
    const [{ CHECKS }, { runChecks }, { createHubLists }, { slimObject }, { localEnvironment }] = await Promise.all([
      import("./doctor/checks/index.ts"),
      import("./doctor/run-checks.ts"),
      import("./doctor/context.ts"),
      import("./doctor/slim-objects.ts"),
      import("./doctor/local-environment.ts"),
    ]);
    const lists = createHubLists({ client, signal, slim: slimObject });
    return runChecks(
      CHECKS,
      { client, server, access, data, clock, signal, only: undefined, localEnvironment, lists },
      { stuckAfterMs: STUCK_MS, limitMs: CHECK_MS },
    );
  },

  async summaries(): Promise<FleetSummaries> {
    const [{ summariseMembers }, { summariseWorkload }] = await Promise.all([
      import("./status/members.ts"),
      import("./status/workloads.ts"),
    ]);
    return { members: summariseMembers, workload: summariseWorkload };
  },
};

interface DoctorQuestion {
  server: string;
  access: KubeconfigAccess;
  /** The data directory, if it is on this machine; unset: nothing is read from this machine's files. */
  data: string | undefined;
}

/** The defaults of `flotilla doctor`. */
const STUCK_MS = 60_000;
const CHECK_MS = 20_000;

async function readTexts(text: string): Promise<JsonObject[]> {
  if (text.trim() === "") return [];
  const [{ manifestsOf }, { readDocuments }] = await Promise.all([
    import("./interpret/customizations.ts"),
    import("./interpret/documents.ts"),
  ]);
  return manifestsOf(readDocuments({ name: "the editor", text })).map(({ object }) => object);
}
