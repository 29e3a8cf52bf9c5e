/** What deserves to be told of how a ManifestWork reports on its objects. Upstream takes all of it. */
import type { DeepReadonly } from "../../base/index.ts";
import { compileConditionRule } from "../../machinery/index.ts";
import type { ManifestWorkSpec } from "./manifest-work.ts";

type Spec = DeepReadonly<ManifestWorkSpec> | undefined;

/** More rules than this are for the agent alone to read: compiling takes time. */
const MAX_COMPILED = 100;

/** Stock agents know the status of a few kinds of Kubernetes; Flotilla knows OpenKruise's as well. */
export function feedbackWarnings(at: string, spec: Spec): string[] {
  return (spec?.manifestConfigs ?? []).flatMap(
    ({ resourceIdentifier: { group = "", resource }, feedbackRules = [] }, index) =>
      group.endsWith(".kruise.io") && feedbackRules.some(({ type }) => type === "WellKnownStatus")
        ? [
            `${at}.manifestConfigs[${index}].feedbackRules: WellKnownStatus of ${resource}.${group} is understood by Flotilla's agents alone; the canonical form is type JSONPaths with a path for every value`,
          ]
        : [],
  );
}

/** An expression that does not compile makes its condition False on every object, which is found out late. */
export function conditionRuleWarnings(at: string, spec: Spec): string[] {
  const expressions = (spec?.manifestConfigs ?? []).flatMap(({ conditionRules = [] }, config) =>
    conditionRules.flatMap(({ celExpressions = [], messageExpression = "" }, rule) => {
      const field = `${at}.manifestConfigs[${config}].conditionRules[${rule}]`;
      return [
        ...celExpressions.map((expression, index) => ({
          field: `${field}.celExpressions[${index}]`,
          expression,
          isMessage: false,
        })),
        ...(messageExpression === ""
          ? []
          : [{ field: `${field}.messageExpression`, expression: messageExpression, isMessage: true }]),
      ];
    }),
  );
  return expressions.slice(0, MAX_COMPILED).flatMap(({ field, expression, isMessage }) => {
    const { errors } = compileConditionRule(expression, { isMessage });
    return errors === undefined ? [] : [`${field}: ${errors.replaceAll(/\s*\n\s*/g, " ")}`];
  });
}
