/**
 * The two places where Open Cluster Management accepts CEL expressions: a Placement selects clusters, and a
 * ManifestWork evaluates conditions of its applied objects. Objects have no schema there; `dynamicValueOf` creates
 * their values.
 */
import { BOOL, compileCel, DYN, formatType, mapOf, STRING } from "@flotilla/cel";
import type { CompileCelResult, Row } from "@flotilla/cel";
import { clusterSelectorFunctions, conditionRuleFunctions } from "./cluster-functions.ts";
import type { ScoreSource } from "./cluster-functions.ts";

const CLUSTER = { managedCluster: mapOf(STRING, DYN) };
const OBJECT = { object: DYN };
const OBJECT_AND_RESULT = { object: DYN, result: BOOL };

/** Functions that read scores from this source. Create it once per evaluator: programs are compiled against it. */
export const createScoreLibrary = (source: ScoreSource): readonly Row[] => clusterSelectorFunctions(source);

/** Enough to find errors in an expression. */
const withoutScores = createScoreLibrary(() => undefined);

/** For expressions over `managedCluster`. Without a library every lookup of scores fails at run time. */
export const compileClusterSelector = (expression: string, library: readonly Row[] = withoutScores): CompileCelResult =>
  compileCel(expression, { variables: CLUSTER, library, mixesTypes: true });

/** The reason why an expression can never select a cluster; undefined for one that can. */
export function clusterSelectorProblem(expression: string): string | undefined {
  const { program, errors } = compileClusterSelector(expression);
  if (!program) return errors;
  const { kind } = program.resultType;
  return kind === "bool" || kind === "dyn" ? undefined : `must evaluate to bool, not ${formatType(program.resultType)}`;
}

/** For expressions over `object`, and for messages also over the `result` of the rule's expressions. */
export const compileConditionRule = (expression: string, { isMessage = false } = {}): CompileCelResult =>
  compileCel(expression, {
    variables: isMessage ? OBJECT_AND_RESULT : OBJECT,
    library: conditionRuleFunctions,
    mixesTypes: true,
  });
