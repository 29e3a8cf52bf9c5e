/**
 * Checks the expressions of a ValidatingAdmissionPolicy against the schemas of the kinds that it names. Expressions are
 * accepted without that, because a policy may be for kinds that do not exist yet; what is found is a warning. Pure.
 */
import type {
  ExpressionWarning,
  NamedRuleWithOperations,
  ValidatingAdmissionPolicySpec,
} from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { withObjectMeta } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { AdmissionCompiler, declareSchemaType } from "@flotilla/cel";
import type { ResourceTable, ServedVersion } from "../resources/resources.ts";
import { kindName, paramVersion } from "./policy-params.ts";
import { compareText } from "@flotilla/base";

type Spec = DeepReadonly<ValidatingAdmissionPolicySpec>;
type CelType = NonNullable<ReturnType<typeof declareSchemaType>>;

/** More kinds say little more, and each compiles every expression. */
const MAX_KINDS = 10;
const COMPILATION_FAILED = "compilation failed: ";

export function typeWarnings(spec: Spec, table: ResourceTable): ExpressionWarning[] {
  const compilers = checkedKinds(spec, table).flatMap((served) => {
    const objectType = typeOf(served);
    return objectType ? [{ kind: nameOf(served), compiler: compilerFor(spec, table, objectType) }] : [];
  });
  const check = (fieldRef: string, expression: string | undefined): ExpressionWarning[] => {
    if (!expression) return [];
    const problems = compilers.flatMap(({ kind, compiler }) => {
      const { problem } = compiler.compile(expression);
      return problem ? [`${kind}: ${problem.detail.replace(COMPILATION_FAILED, "")}\n`] : [];
    });
    return problems.length > 0 ? [{ fieldRef, warning: problems.join("\n") }] : [];
  };
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, index) => [
    ...check(`spec.validations[${index}].expression`, expression),
    ...check(`spec.validations[${index}].messageExpression`, messageExpression),
  ]);
}

function compilerFor(
  { paramKind, variables = [] }: Spec,
  table: ResourceTable,
  objectType: CelType,
): AdmissionCompiler {
  const params = paramKind && paramVersion(table, paramKind);
  const paramsType = params && typeOf(params);
  const compiler = new AdmissionCompiler({
    hasParams: paramsType !== undefined,
    hasVariables: true,
    objectType,
    paramsType,
  });
  for (const { name, expression } of variables) compiler.addVariable(name, expression);
  return compiler;
}

const types = new WeakMap<ServedVersion, CelType | undefined>();

function typeOf(served: ServedVersion): CelType | undefined {
  if (!types.has(served))
    types.set(
      served,
      declareSchemaType(withObjectMeta(served.schema), { isResource: true, name: served.resource.kind.kind }),
    );
  return types.get(served);
}

const nameOf = ({ apiVersion, resource }: ServedVersion): string => kindName({ apiVersion, kind: resource.kind.kind });

/** The kinds that rules name without wildcards, in the order of their names. */
function checkedKinds({ matchConstraints }: Spec, table: ResourceTable): ServedVersion[] {
  const found = new Set<ServedVersion>();
  for (const rule of matchConstraints?.resourceRules ?? [])
    for (const served of kindsOf(rule, table)) {
      found.add(served);
      if (found.size === MAX_KINDS) break;
    }
  return [...found].toSorted(
    (a, b) => compareText(a.resource.kind.group, b.resource.kind.group) || compareText(nameOf(a), nameOf(b)),
  );
}

function* kindsOf(
  { apiGroups = [], apiVersions = [], resources = [] }: DeepReadonly<NamedRuleWithOperations>,
  table: ResourceTable,
): Generator<ServedVersion> {
  if ([...apiGroups, ...apiVersions].some((text) => text.includes("*"))) return;
  for (const group of apiGroups.toSorted())
    for (const version of apiVersions.toSorted())
      for (const plural of resources.filter((text) => !/[*/]/.test(text)).toSorted()) {
        const served = table.find(group, version, plural);
        if (served) yield served;
      }
}
