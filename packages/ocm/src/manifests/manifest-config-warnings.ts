/** Warnings for the status feedback and condition rules of a ManifestWork. Upstream accepts all of it. */
import type { DeepReadonly } from "@flotilla/base";
import type { ManifestWorkSpec } from "./manifest-work-spec.ts";
import { compileConditionRule } from "../expressions/cluster-expressions.ts";

type Spec = DeepReadonly<ManifestWorkSpec> | undefined;

/** More rules than this are only compiled by the agent: compiling takes time. */
const MAX_COMPILED = 100;

/** Stock agents know the well-known status of a few Kubernetes kinds; Flotilla's agents also know OpenKruise's. */
export function feedbackWarnings(at: string, spec: Spec): string[] {
  return (spec?.manifestConfigs ?? []).flatMap(
    ({ resourceIdentifier: { group = "", resource }, feedbackRules = [] }, index) =>
      group.endsWith(".kruise.io") && feedbackRules.some(({ type }) => type === "WellKnownStatus")
        ? [
            `${at}.manifestConfigs[${index}].feedbackRules: WellKnownStatus of ${resource}.${group} is ` +
              "only supported by Flotilla's agents; the canonical form is type JSONPaths with a path for " +
              "every value",
          ]
        : [],
  );
}

/** An expression that does not compile makes its condition False on every object, which users notice late. */
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
