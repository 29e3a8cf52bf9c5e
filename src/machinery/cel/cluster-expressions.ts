/**
 * The two places where Open Cluster Management takes expressions: a Placement selects clusters with them, and a
 * ManifestWork judges the objects that it brought. Objects have no schema there; `dynamicValueOf` makes their values.
 */
import { compileCel } from "./compile.ts";
import type { CompileCelResult } from "./contract.ts";
import type { Row } from "./functions.ts";
import { judging, selecting, type ScoreSource } from "./library/clusters.ts";
import { BOOL, DYN, formatType, mapOf, STRING } from "./types.ts";

export type { ScoreSource } from "./library/clusters.ts";

const CLUSTER = { managedCluster: mapOf(STRING, DYN) };
const OBJECT = { object: DYN };
const JUDGED = { object: DYN, result: BOOL };

/**
 * Functions that ask this source for scores. Made once by whoever evaluates selectors: programs are compiled against
 * it.
 */
export const createScoreLibrary = (source: ScoreSource): readonly Row[] => selecting(source);

/** Enough to find out what is wrong with an expression. */
const withoutScores = createScoreLibrary(() => undefined);

/** Of `managedCluster`. Without a library every lookup of scores fails when the program runs. */
export const compileClusterSelector = (expression: string, library: readonly Row[] = withoutScores): CompileCelResult =>
  compileCel(expression, { variables: CLUSTER, library, mixesTypes: true });

/** What keeps an expression from ever selecting a cluster; undefined for one that can. */
export function clusterSelectorProblem(expression: string): string | undefined {
  const { program, errors } = compileClusterSelector(expression);
  if (!program) return errors;
  const { kind } = program.resultType;
  return kind === "bool" || kind === "dyn" ? undefined : `must evaluate to bool, not ${formatType(program.resultType)}`;
}

/** Of `object`, and for messages also of the `result` of the rule's expressions. */
export const compileConditionRule = (expression: string, { isMessage = false } = {}): CompileCelResult =>
  compileCel(expression, { variables: isMessage ? JUDGED : OBJECT, library: judging, mixesTypes: true });
