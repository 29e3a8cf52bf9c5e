/**
 * A controller for the few bindings that need it. A hub has thousands that do not, and each changes several times while
 * its workload starts; those cost one predicate call per event and are never queued.
 */
import type { Kind } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, watch } from "@flotilla/controller-runtime";
import type { Controller, ReconcileContext, Result, SourceRequest } from "@flotilla/controller-runtime";
import { isAtHome, stageName, type BindingScope } from "./binding-scope.ts";

type Binding = DeepReadonly<ResourceBinding>;

export interface BindingController {
  stage: string;
  scope: BindingScope;
  /**
   * A binding is enqueued when this is true, or was true before the change. Must be cheap: it is called for every
   * change of every binding.
   */
  concerns(binding: Binding): boolean;
  /** The bindings if unset. */
  writes?: readonly Kind[];
  concurrency?: number;
  watches?: readonly SourceRequest<ObjectKey>[];
  reconcile(binding: Binding, context: ReconcileContext & { key: ObjectKey }): Promise<Result>;
  /** Called when the binding is deleted; for controllers that keep state in memory. */
  forget?(key: ObjectKey): void;
}

export function defineForBindings({
  stage,
  scope,
  concerns,
  writes = [scope.kind],
  concurrency,
  watches = [],
  reconcile,
  forget,
}: BindingController): Controller<ObjectKey> {
  return defineKeyedController<ObjectKey>({
    name: stageName(stage, scope),
    writes,
    concurrency,
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
