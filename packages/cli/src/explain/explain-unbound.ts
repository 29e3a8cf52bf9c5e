/** Explains a resource that has no binding, with the hub's policies read through its API. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { explain, viewsOf } from "@flotilla/flotilla";
import type { Explanation } from "@flotilla/flotilla";
import { createHubInterpreter } from "./hub-interpreter.ts";
import { readHub } from "./read-snapshot.ts";

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
    const readMember = (): Promise<undefined> => Promise.resolve(undefined);
    return await explain({ views: viewsOf(state.snapshot), interpreter, readMember, nowMs: clock.now(), template });
  } finally {
    await close();
  }
}
