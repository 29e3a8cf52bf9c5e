export { abortable } from "./abortable.ts";
export { CollectedBytes } from "./collected-bytes.ts";
export { createFakeClock, elapsedMs, every, formatMicroTime, formatTime, sleep, systemClock } from "./clock.ts";
export type { Clock, FakeClock, Timer } from "./clock.ts";
export { didYouMean, nearestOf } from "./did-you-mean.ts";
export { FlotillaError, InvariantError, TerminalError, UsageError, invariant, messageOf, required } from "./errors.ts";
export { Histogram } from "./histogram.ts";
export {
  copy,
  deepFreeze,
  defined,
  equalJson,
  isObject,
  isWithoutKeys,
  jsonOrUndefined,
  omitEmpty,
  omitZero,
  setOwn,
} from "./json.ts";
export type { DeepReadonly, Json, JsonObject, Mutable } from "./json.ts";
export {
  hasLongDigits,
  INEXACT_INTEGER,
  inexactIntegers,
  isLongInteger,
  parseExactJson,
  withoutInexactIntegers,
} from "./exact-integers.ts";
export { COUNT_ABOVE_BYTES, countJsonValues, endOfString, exceedsJsonLimits } from "./json-values.ts";
export { listOf, numberOf, objectOf, objectsOf, ownOf, textOf, textsOf } from "./json-parts.ts";
export { createLog, silentLog } from "./log.ts";
export type { Log, LogFields, LogFormat, LogLevel } from "./log.ts";
export { METRICS_CONTENT_TYPE, MetricsText, formatLabel } from "./metrics-text.ts";
export type { Labels } from "./metrics-text.ts";
export {
  Counts,
  DEFAULT_BUCKETS,
  Histograms,
  counter,
  exponentialBuckets,
  gauge,
  histogram,
  writeGauge,
} from "./metrics.ts";
export type { Metric } from "./metric.ts";
export { moduleBeside } from "./module-url.ts";
export { processMetrics, writeProcessMetrics } from "./process-metrics.ts";
export { NAME_ALPHABET, createSeededRandom, formatUuid, randomSuffix, randomUuid, systemRandom } from "./random.ts";
export type { Random } from "./random.ts";
export { skipSound, skipUnchanged } from "./skip-unchanged.ts";
export { createSemaphore } from "./semaphore.ts";
export type { Semaphore } from "./semaphore.ts";
export { capitalised, compareText } from "./text.ts";
export { VERSION } from "./program-version.ts";
