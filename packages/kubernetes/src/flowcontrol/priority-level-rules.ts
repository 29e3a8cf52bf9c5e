/** Defaults and validation of PriorityLevelConfiguration. */
import { defined } from "@flotilla/base";
import { builtInAdmission, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import type {
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";
import { isDeepStrictEqual } from "node:util";
import type { DeepReadonly } from "@flotilla/base";
import { mandatoryPriorityLevels } from "./flowcontrol-defaults.ts";
import { PriorityLevelConfiguration } from "./priority-level-kind.ts";

const EXEMPT = "exempt";
const DEFAULT_SHARES = 30;
const DEFAULT_QUEUING = { queues: 64, handSize: 8, queueLengthLimit: 50 };
const MAX_QUEUES = 10_000_000;
/** The bits of the hash from which a hand of queues is dealt. */
const MAX_HASH_BITS = 60;

function withDefaults(spec: PriorityLevelConfigurationSpec): PriorityLevelConfigurationSpec {
  const { limited, exempt } = spec;
  const queuing = limited?.limitResponse?.queuing;
  return {
    ...spec,
    ...defined({
      limited: limited
        ? {
            ...fill(limited, { nominalConcurrencyShares: DEFAULT_SHARES, lendablePercent: 0 }),
            ...defined({
              limitResponse:
                queuing && limited.limitResponse
                  ? { ...limited.limitResponse, queuing: withoutZeros(queuing) }
                  : undefined,
            }),
          }
        : undefined,
      exempt:
        spec.type === "Exempt" ? fill(exempt ?? {}, { nominalConcurrencyShares: 0, lendablePercent: 0 }) : undefined,
    }),
  };
}

function withoutZeros({ queues, handSize, queueLengthLimit }: QueuingConfiguration): QueuingConfiguration {
  return {
    queues: queues || DEFAULT_QUEUING.queues,
    handSize: handSize || DEFAULT_QUEUING.handSize,
    queueLengthLimit: queueLengthLimit || DEFAULT_QUEUING.queueLengthLimit,
  };
}

function checkSpec(spec: DeepReadonly<PriorityLevelConfigurationSpec>, name: string): FieldError[] {
  const { type, limited, exempt } = spec;
  const errors: FieldError[] = [];
  if ((name === EXEMPT) !== (type === "Exempt"))
    errors.push(field.invalid("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  switch (type) {
    case "Exempt":
      if (limited) errors.push(field.forbidden("spec.limited", "must be nil if the type is not Limited"));
      if (exempt) errors.push(...checkShares("spec.exempt", exempt), ...checkLendable("spec.exempt", exempt));
      break;
    case "Limited":
      if (exempt) errors.push(field.forbidden("spec.exempt", "must be nil if the type is Limited"));
      if (!limited) errors.push(field.required("spec.limited", "must not be empty when type is Limited"));
      else errors.push(...checkLimited("spec.limited", limited));
      break;
    default:
      errors.push(oneOf("spec.type", type, ["Exempt", "Limited"]));
  }
  return errors;
}

const oneOf = (path: string, value: string | undefined, known: readonly string[]): FieldError =>
  value ? field.notSupported(path, value, known) : field.required(path);

interface Shares {
  readonly nominalConcurrencyShares?: number;
  readonly lendablePercent?: number;
}

function checkShares(at: string, { nominalConcurrencyShares: shares = 0 }: Shares): FieldError[] {
  return shares < 0 ? [field.invalid(`${at}.nominalConcurrencyShares`, shares, "must be a non-negative integer")] : [];
}

function checkLendable(at: string, { lendablePercent: percent = 0 }: Shares): FieldError[] {
  return percent < 0 || percent > 100
    ? [field.invalid(`${at}.lendablePercent`, percent, "must be between 0 and 100, inclusive")]
    : [];
}

function checkLimited(at: string, limited: DeepReadonly<LimitedPriorityLevelConfiguration>): FieldError[] {
  const errors = checkShares(at, limited);
  const { borrowingLimitPercent, limitResponse } = limited;
  const path = `${at}.limitResponse`;
  const { type = "", queuing } = limitResponse ?? {};
  if (type === "Reject") {
    if (queuing)
      errors.push(field.forbidden(`${path}.queuing`, "must be nil if limited.limitResponse.type is not Limited"));
  } else if (type === "Queue") {
    if (!queuing)
      errors.push(field.required(`${path}.queuing`, "must not be empty if limited.limitResponse.type is Limited"));
    else errors.push(...checkQueuing(`${path}.queuing`, queuing));
  } else errors.push(oneOf(`${path}.type`, type, ["Queue", "Reject"]));
  errors.push(...checkLendable(at, limited));
  if (borrowingLimitPercent !== undefined && borrowingLimitPercent < 0)
    errors.push(
      field.invalid(
        `${at}.borrowingLimitPercent`,
        borrowingLimitPercent,
        "if specified, must be a non-negative integer",
      ),
    );
  return errors;
}

function checkQueuing(at: string, queuing: DeepReadonly<QueuingConfiguration>): FieldError[] {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  const errors: FieldError[] = [];
  if (queueLengthLimit <= 0) errors.push(field.invalid(`${at}.queueLengthLimit`, queueLengthLimit, "must be positive"));
  if (queues <= 0) errors.push(field.invalid(`${at}.queues`, queues, "must be positive"));
  else if (queues > MAX_QUEUES)
    errors.push(field.invalid(`${at}.queues`, queues, `must not be greater than ${MAX_QUEUES}`));
  if (handSize <= 0) errors.push(field.invalid(`${at}.handSize`, handSize, "must be positive"));
  else if (handSize > queues)
    errors.push(field.invalid(`${at}.handSize`, handSize, `should not be greater than queues (${queues})`));
  else if (entropyBits(queues, handSize) > MAX_HASH_BITS)
    errors.push(
      field.invalid(
        `${at}.handSize`,
        handSize,
        `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_HASH_BITS}`,
      ),
    );
  return errors;
}

/** The bits that a hand of so many distinct queues needs. */
function entropyBits(queues: number, handSize: number): number {
  let bits = 0;
  for (let dealt = 0; dealt < handSize; dealt++) bits += Math.log2(queues - dealt);
  return Math.ceil(bits);
}

/** The mandatory levels keep their spec; shares of the exempt one, which only count for lending, may change. */
function checkMandatory(name: string, spec: DeepReadonly<PriorityLevelConfigurationSpec>): FieldError[] {
  const mandatory = mandatoryPriorityLevels().find(({ metadata }) => metadata.name === name)?.spec;
  if (!mandatory) return [];
  const fixed = name === EXEMPT ? { ...mandatory, exempt: spec.exempt } : mandatory;
  return isDeepStrictEqual(fixed, spec)
    ? []
    : [field.invalid("spec", spec, `spec of '${name}' must equal the fixed value`)];
}

/** A body may lack it. */
const specOf = ({ spec }: { spec?: DeepReadonly<PriorityLevelConfigurationSpec> }): PriorityLevelConfigurationSpec =>
  (spec ?? {}) as PriorityLevelConfigurationSpec;

export const priorityLevelRules: AnyAdmission[] = [
  builtInAdmission(PriorityLevelConfiguration, "flowcontrol-v1", {
    complete: (object) => ({ ...object, spec: withDefaults(specOf(object)) }),
    validate({ object }) {
      const name = (object.metadata.name as string | undefined) ?? "";
      const spec = specOf(object);
      return [...checkMandatory(name, spec), ...checkSpec(spec, name)];
    },
  }),
];
