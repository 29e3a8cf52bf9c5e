/** Users of releases: strategies are objects, and a release is steered by `flotilla rollout`. */
import { FleetRollout, RolloutStrategy } from "@flotilla/flotilla";
import type { Clock } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { rolloutCommand } from "../../../packages/cli/src/commands/rollout.ts";
import { runLoaded } from "../../../test/simulation/run-command.ts";
import { NAMESPACE, TARGETS } from "../manifests.ts";
import type { Manifest } from "../manifests.ts";
import type { ReleasedKind, Steering, Strategy, Wave } from "./draw-release.ts";

function makeWave(wave: Wave): object {
  const { name, percent, members, needsApproval, soakS } = wave;
  return {
    name,
    pods: percent === undefined ? undefined : `${percent}%`,
    clusters: members && { names: members },
    before: needsApproval ? [{ approval: {} }] : undefined,
    after: soakS === undefined ? undefined : [{ soak: `${soakS}s` }],
  };
}

export function makeStrategy(kind: ReleasedKind, strategy: Strategy): Manifest {
  const { name } = TARGETS[kind];
  const object = {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: RolloutStrategy.kind,
    metadata: { name: `release-${name}`, namespace: NAMESPACE },
    spec: {
      selector: { matchLabels: { app: name } },
      waves: strategy.waves.map(makeWave),
      maxUnavailable: strategy.maxUnavailable,
      failure: {
        action: strategy.onFailure,
        progressDeadline: `${strategy.deadlineS}s`,
        onUnreachable: strategy.onUnreachable,
      },
    },
  };
  return JSON.parse(JSON.stringify(object)) as Manifest;
}

export async function steerRelease(
  hub: { client: Client; clock: Clock },
  kind: ReleasedKind,
  how: Steering,
): Promise<string> {
  const { name } = TARGETS[kind];
  const { items } = await hub.client.list(FleetRollout, { cluster: "hub", namespace: NAMESPACE });
  if (!items.some(({ spec }) => spec.target.kind === kind)) return "there is no release";
  const { text } = await runLoaded(hub, rolloutCommand, how, `${kind.toLowerCase()}/${name}`, "-n", NAMESPACE);
  return text.trim();
}
