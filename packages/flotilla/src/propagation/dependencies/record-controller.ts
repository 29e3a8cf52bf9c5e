/**
 * Dependencies, first half: records on a binding what its resource needs, such as the ConfigMaps that its pods mount.
 *
 * Reads: binding with `propagateDeps`, its template.
 * Writes: the annotation with the references, and the one that lists the clusters where the resource was released.
 * Before: match wrote the binding. After: `attach-controller.ts` propagates the needed objects.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { InterpretError } from "@flotilla/kubernetes";
import type { Dependency } from "@flotilla/kubernetes";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { done, REPORT_AGAIN_MS, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Result, Source } from "@flotilla/controller-runtime";
import type { BindingScope } from "../bindings/binding-scope.ts";
import type { Companions } from "../concerns/companions.ts";
import { defineForBindings } from "../bindings/define-for-bindings.ts";
import type { ReportRuleFailure } from "../rules/rule-failures.ts";
import { RELIST_RETRY_MS } from "../templates/templates.ts";
import type { Templates } from "../templates/templates.ts";
import { formatReferences, mayBeNeeded } from "./references.ts";
import { DEPENDENCIES } from "@flotilla/karmada";
import { UNMANAGED } from "../../flotilla-names.ts";

export interface RecordDependencies {
  scope: BindingScope;
  client: Client;
  templates: Pick<Templates, "get">;
  /** What concerns the pods of a template, and what these need because of it. */
  companions: Pick<Companions, "dependenciesOf">;
  /** Keys of the bindings with `propagateDeps` that a companion concerns, or did. */
  companionChanges: Source<ObjectKey>;
  /** Keys of the bindings with `propagateDeps` whose template changed. */
  templateChanges: Source<ObjectKey>;
  /** Bindings whose interpreter rules changed. */
  ruleChanges: Source<ObjectKey>;
  interpreter: Pick<Interpreter, "dependencies">;
  reportRuleFailure: ReportRuleFailure;
}

export function createRecordController({
  scope,
  client,
  templates,
  templateChanges,
  companions,
  companionChanges,
  ruleChanges,
  interpreter,
  reportRuleFailure,
}: RecordDependencies): Controller<ObjectKey> {
  /** Undefined while the companions are not known. */
  async function ask(template: DeepReadonly<KubernetesObject>): Promise<readonly Dependency[] | undefined> {
    try {
      const ofCompanions = await companions.dependenciesOf(template);
      return ofCompanions && [...(await interpreter.dependencies(template)), ...ofCompanions];
    } catch (error) {
      reportRuleFailure(template, "GetDependenciesFailed", error);
      throw error;
    }
  }

  return defineForBindings({
    stage: "dependencies",
    scope,
    concerns: ({ metadata, spec }) => Boolean(spec.propagateDeps) || metadata.annotations?.[DEPENDENCIES] !== undefined,
    watches: [{ source: ruleChanges }, { source: templateChanges }, { source: companionChanges }],

    async reconcile(binding, { key, log, signal }) {
      const before = binding.metadata.annotations?.[DEPENDENCIES];
      if (binding.metadata.deletionTimestamp || (!binding.spec.propagateDeps && before === undefined)) return done;
      let text: string | null = null;
      let unmanaged: string | null = null;
      let result: Result = done;
      if (binding.spec.propagateDeps) {
        const template = await templates.get(binding.spec.resource);
        if (template === "unknown") return { requeueAfterMs: RELIST_RETRY_MS };
        // The deletion of the template deletes this binding. A new object of the same name gets its own binding first.
        if (!template || template.metadata.uid !== binding.spec.resource.uid) return done;
        const all = await ask(template);
        if (!all) return { requeueAfterMs: RELIST_RETRY_MS };
        const needed = all.filter(mayBeNeeded);
        const refused = all.find((dependency) => !mayBeNeeded(dependency));
        if (refused) {
          reportRuleFailure(template, "GetDependenciesFailed", new InterpretError(renderRefused(refused)));
          // The event is what commands know of it, and they ignore old ones.
          result = { requeueAfterMs: REPORT_AGAIN_MS };
        } else reportRuleFailure.over(template, "GetDependenciesFailed");
        text = needed.length > 0 ? formatReferences(needed) : null;
        // Only a binding with dependencies has readers of this annotation.
        unmanaged = text === null ? null : (template.metadata.annotations?.[UNMANAGED] ?? null);
      }
      if (text === (before ?? null) && unmanaged === (binding.metadata.annotations?.[UNMANAGED] ?? null)) return result;
      const written = await unlessChanged(
        client.patch(
          scope.kind,
          key,
          {
            metadata: {
              resourceVersion: binding.metadata.resourceVersion ?? "",
              annotations: { [DEPENDENCIES]: text, [UNMANAGED]: unmanaged },
            },
          },
          { type: "merge", signal },
        ),
      );
      if (written) log.info("dependencies noted", { change: text === null ? "removed" : "written" });
      return result;
    },
  });
}

function renderRefused({ kind, namespace, name, labelSelector }: Dependency): string {
  if (!name && !labelSelector) return `A dependency on ${kind} is skipped: it has neither a name nor a labelSelector.`;
  return (
    `The dependency on ${kind} ${[namespace, name].filter(Boolean).join("/")} is skipped: objects of the hub or ` +
    "of a cluster's system namespaces are not propagated to members."
  );
}
