/**
 * The combined rules of all customizations of one target: for each operation the first script by name, and for
 * dependencies every script.
 */
import { defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Beneath, KindRules } from "@flotilla/kubernetes";
import type { LuaEngine } from "../scripts/index.ts";
import { checkedDependencies, mergeDependencies } from "./dependencies.ts";
import { OwnedProgram } from "./owned-program.ts";
import { CUSTOMIZATION_RULES, scriptOf } from "./customization-rules.ts";
import type { Customization, RuleField } from "./customization-rules.ts";
import { asInput, asItem, componentsOf, replicasOf, requireSameIdentity, withStatusOf } from "./script-values.ts";

type Make<R extends keyof KindRules> = (program: OwnedProgram) => KindRules[R];

const replicas: Make<"replicas"> = (script) => (object) =>
  script.run(object, async (program) => replicasOf(await program.getReplicas(asInput(object))));
const components: Make<"components"> = (script) => (object) =>
  script.run(object, async (program) => componentsOf(await program.getComponents(asInput(object))));
const reviseReplicas: Make<"reviseReplicas"> = (script) => (object, count) =>
  script.run(object, async (program) =>
    requireSameIdentity(object, await program.reviseReplica(asInput(object), count)),
  );
const retain: Make<"retain"> = (script) => (desired, observed) =>
  script.run(desired, async (program) =>
    requireSameIdentity(desired, await program.retain(asInput(desired), asInput(observed))),
  );
const reflectStatus: Make<"reflectStatus"> = (script) => (object) =>
  script.run(object, (program) => program.reflectStatus(asInput(object)));
const isHealthy: Make<"isHealthy"> = (script) => (object) =>
  script.run(object, (program) => program.interpretHealth(asInput(object)));
const aggregateStatus: Make<"aggregateStatus"> = (script) => async (object, items, beneath) => {
  // A caller without a list of statuses passes none, and the script sees nil.
  const sum = await script.run(object, (program) => program.aggregateStatus(asInput(object), items?.map(asItem)));
  return withStatusOf(object, isObjectWithKind(sum) ? sum : { status: await completed(sum, beneath) });
};

const isObjectWithKind = (sum: JsonObject): boolean => sum["kind"] !== undefined;

/** A bare status contains only the fields its author set; the kind's schema may require more. */
async function completed(status: JsonObject, beneath?: Beneath): Promise<JsonObject> {
  const rest = (await beneath?.()) as { status?: JsonObject } | undefined;
  return { ...rest?.status, ...status };
}

function dependencies(scripts: readonly OwnedProgram[]): KindRules["dependencies"] {
  return async (object) =>
    mergeDependencies(
      await Promise.all(
        scripts.map((script) =>
          script.run(object, async (program) => checkedDependencies(await program.getDependencies(asInput(object)))),
        ),
      ),
    );
}

/** `customizations` belong to one target and are sorted by name. */
export function createKindRules(customizations: readonly Customization[], engine: LuaEngine): KindRules {
  const programs = new Map<RuleField, OwnedProgram[]>();
  for (const { field, operation } of CUSTOMIZATION_RULES) {
    const found = customizations.flatMap((customization) => {
      const source = scriptOf(customization, field);
      return source === undefined
        ? []
        : [new OwnedProgram(engine, source, { customization: customization.metadata.name, operation })];
    });
    if (found.length > 0) programs.set(field, found);
  }
  const rule = <R extends keyof KindRules>(name: R, field: RuleField, make: Make<R>): KindRules => {
    const [first] = programs.get(field) ?? [];
    return first ? { [name]: make(first) } : {};
  };
  const finders = programs.get("dependencyInterpretation");
  return {
    ...rule("replicas", "replicaResource", replicas),
    ...rule("components", "componentResource", components),
    ...rule("reviseReplicas", "replicaRevision", reviseReplicas),
    ...rule("retain", "retention", retain),
    ...rule("reflectStatus", "statusReflection", reflectStatus),
    ...rule("aggregateStatus", "statusAggregation", aggregateStatus),
    ...rule("isHealthy", "healthInterpretation", isHealthy),
    ...defined({ dependencies: finders ? dependencies(finders) : undefined }),
  };
}
