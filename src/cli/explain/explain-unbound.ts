/** Explains a resource that has no binding, with the hub's policies read through its API. */
import type { KubernetesObject } from "../../api/index.ts";
import type { Clock, DeepReadonly } from "../../base/index.ts";
import type { Client } from "../../client/index.ts";
import { explain, viewsOf } from "../../explain/index.ts";
import type { Explanation } from "../../explain/index.ts";
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
    return await explain({ views: viewsOf(state.snapshot), interpreter, nowMs: clock.now(), template });
  } finally {
    await close();
  }
}
