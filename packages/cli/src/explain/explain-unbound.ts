/** Explains a resource that has no binding, with the hub's policies read through its API. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { explain, viewsOf } from "@flotilla/flotilla";
import type { Explanation, FleetSnapshot } from "@flotilla/flotilla";
import { createHubInterpreter } from "./hub-interpreter.ts";
import { findNearMisses } from "./near-misses.ts";
import { readHub } from "./read-snapshot.ts";

function withNearMisses(
  problems: Explanation["problems"],
  template: DeepReadonly<KubernetesObject>,
  snapshot: FleetSnapshot,
): Explanation["problems"] {
  const [miss, ...more] = findNearMisses(template, snapshot);
  const [first, ...others] = problems;
  if (!miss || !first) return problems;
  return [{ what: `${first.what}: ${miss.what}`, try: miss.try }, ...more, ...others];
}

export async function explainUnbound(
  client: Client,
  template: DeepReadonly<KubernetesObject>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Explanation> {
  const state = await readHub(client, [template], signal);
  const { interpreter, close } = createHubInterpreter(state, clock);
  try {
    // Without a binding no member has a copy.
    const readMember = { get: () => Promise.resolve(undefined), list: () => Promise.resolve([]) };
    const found = await explain({
      views: viewsOf(state.snapshot),
      interpreter,
      readMember,
      nowMs: clock.now(),
      template,
    });
    // What is nearly right is corrected sooner than written again.
    return found.policy ? found : { ...found, problems: withNearMisses(found.problems, template, state.snapshot) };
  } finally {
    await close();
  }
}
