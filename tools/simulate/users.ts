/** Users of the hub and of members. Each write has a token of its own; the ledger knows which were acknowledged. */
import { setImmediate } from "node:timers/promises";
import { DRAIN_TAINT, RolloutStrategy } from "@flotilla/flotilla";
import { ApiError, isAlreadyExists, isNotFound } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { Cluster } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import type { Command } from "@flotilla/cli";
import { cordonCommand, taintCommand, uncordonCommand } from "../../packages/cli/src/commands/cordon.ts";
import { runLoaded } from "../../test/simulation/run-command.ts";
import { companionKind, makeCompanion } from "./companion.ts";
import { joinMember } from "./join-member.ts";
import type { MemberOptions, SimulatedFleet } from "./simulated-fleet.ts";
import {
  makeManifestWork,
  makeOverride,
  makePlacement,
  makeTemplate,
  NAMESPACE,
  overrideKindOf,
  policyKindOf,
  TARGETS,
} from "./manifests.ts";
import type { Manifest } from "./manifests.ts";
import type { Action, WorkloadKind } from "./plan-run.ts";
import { makeStrategy, steerRelease } from "./releases/steer-release.ts";

const HUB = "hub";
/** Turns of the event loop that an action needs that does not wait for the clock. */
const ACTION_TURNS = 100;
const ACTION_MS = 500;

/** What a user knows of an object: the last acknowledged write, and whether a later one may have happened. */
export interface Known {
  /** `undefined`: it was deleted. */
  token: number | undefined;
  isUncertain: boolean;
}

export interface Users {
  act(action: Action): Promise<string>;
  /** By the key of the store of the hub. */
  ledger: Map<string, Known>;
  begin(): Promise<void>;
}

export function createUsers(fleet: SimulatedFleet, members: readonly MemberOptions[]): Users {
  const { user, memberUser } = fleet;
  const ledger = new Map<string, Known>();
  let tokens = 0;

  /** Notes what the answer to a write of a template says. */
  async function write(kind: WorkloadKind, send: (token: number) => Promise<unknown>, deletes = false): Promise<void> {
    const { table, path } = TARGETS[kind];
    const key = `${table}${HUB}/${path}`;
    const token = ++tokens;
    try {
      await send(token);
      ledger.set(key, { token: deletes ? undefined : token, isUncertain: false });
    } catch (error) {
      const wasRejected = error instanceof ApiError && error.status.code !== undefined && error.status.code < 500;
      const known = ledger.get(key);
      if (!wasRejected && known) known.isUncertain = true;
      throw error;
    }
  }

  const keyOf = (kind: WorkloadKind, cluster = HUB) => {
    const { namespace, name } = TARGETS[kind];
    return { cluster, namespace, name };
  };
  const change = (kind: WorkloadKind, patch: JsonObject): Promise<void> =>
    write(kind, (token) =>
      user.patch(
        TARGETS[kind].kind,
        keyOf(kind),
        { ...patch, metadata: { annotations: { "sim/token": String(token) } } },
        { type: "merge" },
      ),
    );
  const put = (kind: Kind, object: Manifest): Promise<void> => putObject(user, kind, object);
  const remove = (kind: Kind, object: Manifest): Promise<void> => removeObject(user, kind, object);

  /** What is asked of a hub that is killed meanwhile, or what a command tries again, ends only when the clock moves. */
  async function atTheClock<T>(work: Promise<T>): Promise<T> {
    const state = { isDone: false };
    const end = (): void => void (state.isDone = true);
    void work.then(end, end);
    while (!state.isDone) {
      for (let turn = 0; turn < ACTION_TURNS && !state.isDone; turn++) await setImmediate();
      if (!state.isDone) await fleet.run(ACTION_MS);
    }
    return work;
  }
  const runTaints = async (command: Command, ...argv: string[]): Promise<string> =>
    (await runLoaded({ client: user, clock: fleet.clock }, command, ...argv)).text.trim();

  async function carryOut(action: Action): Promise<string | void> {
    switch (action.do) {
      case "apply": {
        const { kind } = action;
        const make = (token: number): Manifest => makeTemplate(kind, { ...action, token: String(token) });
        return write(kind, (token) => user.create(TARGETS[kind].kind, HUB, make(token)));
      }
      case "place":
        return put(policyKindOf(action.kind), makePlacement(action.kind, action.placement));
      case "scale":
        return change(action.kind, { spec: { replicas: action.replicas } });
      case "release":
      case "roll back":
        return change(action.kind, {
          spec: { template: { spec: { containers: [{ name: "main", image: action.image }] } } },
        });
      case "partition":
        return change(action.kind, {
          spec: { updateStrategy: { rollingUpdate: { partition: action.partition } } },
        });
      case "pause":
        return change(
          action.kind,
          action.kind === "CloneSet"
            ? { spec: { updateStrategy: { rollingUpdate: { paused: action.isPaused } } } }
            : { spec: { paused: action.isPaused } },
        );
      case "delete":
        // As kubectl does: without a policy, dependents of a Job are kept.
        return write(
          action.kind,
          () => user.delete(TARGETS[action.kind].kind, keyOf(action.kind), { propagationPolicy: "Background" }),
          true,
        );
      case "override": {
        const object = makeOverride(action.kind, action.member, action.value ?? "");
        return action.value === undefined
          ? remove(overrideKindOf(action.kind), object)
          : put(overrideKindOf(action.kind), object);
      }
      case "edit on member":
        await memberUser.patch(
          TARGETS[action.kind].kind,
          keyOf(action.kind, action.member),
          { spec: { replicas: action.replicas } },
          { type: "merge" },
        );
        return;
      case "taint":
        await user.patch(
          Cluster,
          { cluster: HUB, name: action.member },
          { spec: { taints: action.effect ? [{ key: "sim", effect: action.effect }] : [] } },
          { type: "merge" },
        );
        return;
      case "cordon":
        return runTaints(cordonCommand, action.member);
      case "drain": {
        // What 'flotilla drain' sets before it waits.
        await runTaints(cordonCommand, action.member);
        return runTaints(taintCommand, action.member, `${DRAIN_TAINT}:NoExecute`);
      }
      case "uncordon":
        return runTaints(uncordonCommand, action.member);
      case "unjoin":
        await user.delete(Cluster, { cluster: HUB, name: action.member });
        return;
      case "join": {
        const member = members.find(({ name }) => name === action.member);
        return member && joinMember(fleet, member);
      }
      case "companion":
        await put(companionKind, makeCompanion());
        await user.patch(
          policyKindOf("CloneSet"),
          { cluster: HUB, namespace: NAMESPACE, name: `place-${TARGETS.CloneSet.name}` },
          { spec: { propagateDeps: true } },
          { type: "merge" },
        );
        return;
      case "manifest work": {
        const object = makeManifestWork(action.member, action.value ?? "");
        const kind = ManifestWork as unknown as Kind;
        return action.value === undefined ? remove(kind, object) : put(kind, object);
      }
      case "strategy":
        return put(RolloutStrategy, makeStrategy(action.kind, action.strategy));
      case "steer":
        return steerRelease({ client: user, clock: fleet.clock }, action.kind, action.how);
    }
  }

  return {
    ledger,
    async act(action) {
      try {
        return (await atTheClock(carryOut(action))) ?? "done";
      } catch (error) {
        if (isNotFound(error)) return "not found";
        return messageOf(error);
      }
    },
    async begin() {
      await user.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
      for (const member of members) await joinMember(fleet, member);
    },
  };
}

/** Creates the object, or changes it. */
async function putObject(user: SimulatedFleet["user"], kind: Kind, object: Manifest): Promise<void> {
  const key = { cluster: HUB, name: object.metadata.name, namespace: object.metadata.namespace };
  try {
    await user.create(kind, HUB, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { metadata: _, ...rest } = object;
    // A merge patch keeps fields that the new placement does not have.
    const spec = rest["spec"] as JsonObject | undefined;
    if (spec?.["placement"] !== undefined)
      await user.patch(
        kind,
        key,
        { spec: { placement: { clusterAffinity: null, replicaScheduling: null } } },
        { type: "merge" },
      );
    await user.patch(kind, key, rest, { type: "merge" });
  }
}

async function removeObject(user: SimulatedFleet["user"], kind: Kind, object: Manifest): Promise<void> {
  const { name, namespace } = object.metadata;
  await user.delete(kind, { cluster: HUB, name, namespace });
}
