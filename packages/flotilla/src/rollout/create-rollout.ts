/** Wires releases to a hub's informers and clients. */
import type { ResourceBinding } from "@flotilla/karmada";
import { bindingName, Cluster, Work } from "@flotilla/karmada";
import { Pod } from "@flotilla/kubernetes";
import { Rollout as KruiseRollout } from "@flotilla/openkruise";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { createFailureReports, keyOf } from "@flotilla/controller-runtime";
import type { Controller, EventRecorders, Informers, ObjectEvent, Source } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import type { MemberSource } from "../membership/member.ts";
import type { HubViews } from "../propagation/create-hub-views.ts";
import { namespacedScope } from "../propagation/bindings/binding-scope.ts";
import { createAskGate } from "./gates/ask-http.ts";
import type { AskGate } from "./gates/ask-http.ts";
import { createGateRunner } from "./gates/run-gates.ts";
import { createBudgetController } from "./budget-controller.ts";
import { createBudgetLedger } from "./budget-ledger.ts";
import { FleetDisruptionBudget } from "./kinds/fleet-disruption-budget.ts";
import { FleetRollout } from "./kinds/fleet-rollout.ts";
import { createKruiseRolloutController } from "./kruise-rollout-controller.ts";
import type { ReleaseIndex } from "./release-index.ts";
import { createReleasesController, RELEASE_ENDINGS, RELEASES_EVENTS } from "./releases-controller.ts";
import type { ReleasesDependencies } from "./releases-controller.ts";
import { createRolloutController } from "./rollout-controller.ts";

export interface RolloutsDependencies {
  /** The logical cluster of the hub. */
  hub: string;
  informers: Informers;
  clientFor(part: string): Client;
  views: HubViews;
  index: ReleaseIndex;
  members: Pick<MemberSource, "find">;
  events: EventRecorders;
  decisions?: DecisionRecorder | undefined;
  /** Asks metrics and webhooks of gates; over the network if unset. */
  askGate?: AskGate | undefined;
  clock: Clock;
  log: Log;
}

export interface Rollouts {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
}

/** A healthy member answers in a fraction of this. */
const PODS_TIMEOUT_MS = 2_000;
/** Enough to find out that pods fail. */
const MAX_PODS = 500;

export function createRollouts(deps: RolloutsDependencies): Rollouts {
  const { hub, informers, clientFor, views, index, members, events, decisions, clock } = deps;
  const rollouts = informers.of(FleetRollout);
  const bindings = informers.of<ResourceBinding>(namespacedScope.kind);
  const clusters = informers.of(Cluster);
  const client = clientFor("rollout");

  async function readPods(
    name: string,
    namespace: string,
    labelSelector: string,
    signal: AbortSignal,
  ): Promise<readonly DeepReadonly<Pod>[] | undefined> {
    const cluster = clusters.get({ cluster: hub, name });
    const member = cluster && members.find(cluster);
    // The hub may not reach a member that pulls.
    if (!member || "problem" in member || !member.delivery) return undefined;
    const timeout = new AbortController();
    const timer = clock.after(PODS_TIMEOUT_MS, () => timeout.abort());
    try {
      const { items } = await member.client.list(Pod, {
        cluster: name,
        namespace,
        labelSelector,
        limit: MAX_PODS,
        signal: AbortSignal.any([signal, timeout.signal]),
      });
      return items;
    } catch {
      // An edge: without its pods a member is judged by the status of its workload, and its deadline.
      return undefined;
    } finally {
      timer.cancel();
    }
  }

  let enqueue: (key: ObjectKey) => void = () => {};
  const answered: Source<ObjectKey> = {
    start(next, signal) {
      enqueue = (key) => (signal.aborted ? undefined : next(key));
    },
    isQuiet: () => true,
  };
  const gates = createGateRunner({
    hub,
    client,
    works: informers.of(Work),
    ask: deps.askGate ?? createAskGate(clock),
    changed: (key) => enqueue(key),
    clock,
    log: deps.log,
  });

  const budgets = informers.of(FleetDisruptionBudget);
  const ledger = createBudgetLedger({
    hub,
    client,
    budgets,
    bindings,
    clusters,
    templates: views.templates,
    worksOf: views.worksOf,
    clock,
  });

  const bindingOf = ({ cluster, object }: ObjectEvent) => {
    const { apiVersion, kind, metadata } = object;
    return metadata.namespace && index.mayHaveReleases({ apiVersion, kind, ...metadata })
      ? [{ ...keyOf(cluster, object), name: bindingName(kind, metadata.name) }]
      : [];
  };

  const ofTemplates = (): Omit<ReleasesDependencies, "failures"> => ({
    hub,
    client,
    bindings,
    templates: views.templates,
    templateChanges: views.templates.source(bindingOf),
    index,
  });
  const failures = createFailureReports({
    cluster: hub,
    component: RELEASES_EVENTS,
    client,
    events: events(RELEASES_EVENTS),
    endings: RELEASE_ENDINGS,
    clock,
    log: deps.log,
  });

  return {
    controllers: [
      createBudgetController({ hub, client, budgets, rollouts, ledger }),
      createReleasesController({ ...ofTemplates(), failures }),
      createKruiseRolloutController({ ...ofTemplates(), events: events("flotilla-rollout"), clock }),
      createRolloutController({
        hub,
        client,
        bindings,
        clusters,
        rollouts,
        leads: informers.of(KruiseRollout),
        worksOf: views.worksOf,
        templates: views.templates,
        index,
        readPods,
        gates,
        answered,
        budgets: ledger,
        events: events("flotilla-rollout"),
        recorder: decisions,
        clock,
      }),
    ],
  };
}
