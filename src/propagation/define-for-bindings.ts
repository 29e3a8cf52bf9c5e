/**
 * A controller for the few bindings that ask for something. A hub has thousands that do not, and each changes several
 * times while its workload comes up; those cost a look at the event and no place in the queue.
 */
import type { ResourceBinding } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { ObjectKey } from "../client/index.ts";
import { defineKeyedController, done, idOfKey, keyOf, watch } from "../runtime/index.ts";
import type { Controller, ReconcileContext, Result, SourceRequest } from "../runtime/index.ts";
import { isAtHome, stageName, type BindingScope } from "./binding-scope.ts";

type Binding = DeepReadonly<ResourceBinding>;

export interface BindingController {
  stage: string;
  scope: BindingScope;
  /** A binding is looked at when this holds, or has just held. Cheap: it is asked at every change of every binding. */
  concerns(binding: Binding): boolean;
  watches?: readonly SourceRequest<ObjectKey>[];
  reconcile(binding: Binding, context: ReconcileContext & { key: ObjectKey }): Promise<Result>;
  /** The binding is gone; for controllers that keep something in memory. */
  forget?(key: ObjectKey): void;
}

export function defineForBindings({
  stage,
  scope,
  concerns,
  watches = [],
  reconcile,
  forget,
}: BindingController): Controller<ObjectKey> {
  return defineKeyedController<ObjectKey>({
    name: stageName(stage, scope),
    writes: [scope.kind],
    idOf: idOfKey,
    sources: [
      watch(scope.kind, ({ cluster, object, old }) =>
        concerns(object) || (old && concerns(old)) ? [keyOf(cluster, object)] : [],
      ),
      ...watches,
    ],

    async reconcile(key, { informers, log, signal }) {
      const binding = informers.of(scope.kind).get(key);
      if (binding) return isAtHome(binding) ? reconcile(binding, { key, log, signal }) : done;
      forget?.(key);
      return done;
    },
  });
}
