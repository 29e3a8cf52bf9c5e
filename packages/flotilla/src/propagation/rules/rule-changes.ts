/**
 * Decisions that used the rules of a kind are made again when the rules change: a user who fixes a customization sees
 * the effect without touching every object of the kind.
 */
import { formatApiVersion, gvkOf } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { ChangedKind } from "@flotilla/kubernetes";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import type { Lister, Source } from "@flotilla/controller-runtime";
import { refsOf } from "../members/member-objects.ts";
import { keyOfTemplate } from "../templates/templates.ts";
import type { TemplateKey, Templates } from "../templates/templates.ts";

export interface RuleChanges {
  /** Bindings of one scope. */
  bindings(of: Lister<ResourceBinding>): Source<ObjectKey>;
  templates(): Source<TemplateKey>;
  works(): Source<ObjectKey>;
}

export interface RuleChangesDependencies {
  hub: string;
  interpreter: Pick<Interpreter, "onChange">;
  /** Bindings of both scopes. */
  bindings: readonly Lister<ResourceBinding>[];
  works: Lister<Work>;
  /** Templates of the hub. A template whose rule failed from the start has no binding by which it is found. */
  templates?: Pick<Templates, "list">;
}

/** Templates are indexed by group and kind; the lookup still needs a version. */
const ANY_VERSION = "v1";
const idOf = ({ group, kind }: ChangedKind): string => `${group}/${kind}`;

export function createRuleChanges({
  hub,
  interpreter,
  bindings,
  works,
  templates,
}: RuleChangesDependencies): RuleChanges {
  /**
   * A source of keys that are found by the changed kinds. Simultaneous changes, such as those at startup, cause one
   * search.
   */
  function source<K>(
    find: (isChanged: (kind: ChangedKind) => boolean, kinds: readonly ChangedKind[]) => Iterable<K>,
  ): Source<K> {
    const changed = new Map<string, ChangedKind>();
    return {
      start(enqueue, signal) {
        interpreter.onChange((kind) => {
          if (signal.aborted) return;
          if (changed.size === 0) queueMicrotask(search);
          changed.set(idOf(kind), kind);
        });
        function search(): void {
          if (!signal.aborted)
            for (const key of find((kind) => changed.has(idOf(kind)), [...changed.values()])) enqueue(key, "resync");
          changed.clear();
        }
      },
      isQuiet: () => changed.size === 0,
    };
  }

  const changedIn = (
    lister: Lister<ResourceBinding>,
    isChanged: (kind: ChangedKind) => boolean,
  ): DeepReadonly<ResourceBinding>[] =>
    lister.list({ cluster: hub }).filter(({ spec }) => isChanged(gvkOf(spec.resource)));
  const keyOf = ({ metadata: { namespace, name } }: DeepReadonly<ResourceBinding | Work>): ObjectKey => ({
    cluster: hub,
    namespace: namespace || undefined,
    name,
  });

  return {
    bindings: (lister) => source((isChanged) => changedIn(lister, isChanged).map(keyOf)),
    templates: () =>
      source((isChanged, kinds) => [
        ...bindings
          .flatMap((lister) => changedIn(lister, isChanged))
          .map(({ spec: { resource } }) => {
            const { group, kind } = gvkOf(resource);
            return { group, kind, namespace: resource.namespace ?? "", name: resource.name };
          }),
        ...kinds.flatMap(({ group, kind }) =>
          (templates?.list({ apiVersion: formatApiVersion(group, ANY_VERSION), kind }) ?? []).map(keyOfTemplate),
        ),
      ]),
    works: () =>
      source((isChanged) =>
        works
          .list({ cluster: hub })
          .filter((work) => refsOf(work).some((ref) => isChanged(gvkOf(ref))))
          .map(keyOf),
      ),
  };
}
