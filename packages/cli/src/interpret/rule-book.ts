/** Selects the rules that a command runs: those of the given customizations, otherwise the built-in ones. */
import type { ResourceInterpreterCustomization } from "@flotilla/karmada";
import { isObject } from "@flotilla/base";
import type { Clock, DeepReadonly, FlotillaError } from "@flotilla/base";
import { createCustomizationLevel, createInterpreter, createLuaEngine } from "@flotilla/flotilla";
import { InterpretError, OPERATIONS } from "@flotilla/kubernetes";
import type { AnyObject } from "@flotilla/flotilla";
import type { Operation } from "@flotilla/kubernetes";
import { nameOf, scriptOf, scriptTextOf, targetOf } from "./customizations.ts";
import type { Manifest } from "./customizations.ts";
import type { RunOperation } from "./interpreter-rules.ts";
import { NoRuleError, objectOf } from "./run-rule.ts";
import type { AskedRules, RuleInput } from "./run-rule.ts";
import { withPlace } from "./script-place.ts";

export interface RuleBook extends AskedRules {
  /** The error, with its position in the file and the line where they are known. */
  explain(error: FlotillaError, operation: RunOperation, input: RuleInput): string;
  close(): Promise<void>;
}

export function createRuleBook(customizations: readonly Manifest[], clock: Clock): RuleBook {
  if (customizations.length === 0)
    return {
      interpreter: createInterpreter(),
      isBuiltIn: true,
      explain: ({ message }) => message,
      close: () => Promise.resolve(),
    };
  const engine = createLuaEngine({ clock });
  const level = createCustomizationLevel({ engine });
  for (const manifest of customizations) level.set(named(manifest));
  return {
    interpreter: createInterpreter([level]),
    isBuiltIn: false,
    explain(error, operation, input) {
      if (error instanceof NoRuleError) return `${error.message} in ${filesOf(customizations)}${builtInHint(error)}`;
      if (!(error instanceof InterpretError)) return error.message;
      // With a ReviseReplica script, members' copies are its revisions, one by one.
      const scripted = operation === "Divide" ? "ReviseReplica" : operation;
      const manifest = failedCustomization(error, scripted, objectOf(operation, input), customizations);
      const script = manifest && scriptTextOf(manifest, scripted);
      return script ? withPlace(error.message, error.cause, script) : error.message;
    },
    close: () => engine.close(),
  };
}

/** An unnamed customization is named after its file. */
function named(manifest: Manifest): DeepReadonly<ResourceInterpreterCustomization> {
  const metadata = isObject(manifest.object.metadata) ? manifest.object.metadata : {};
  return {
    ...manifest.object,
    metadata: { ...metadata, name: nameOf(manifest) },
  } as unknown as DeepReadonly<ResourceInterpreterCustomization>;
}

/** A customization replaces single rules, so a built-in rule may still apply. */
function builtInHint({ operation, object }: NoRuleError): string {
  const level = createInterpreter().levelOf(operation === "Divide" ? "divide" : OPERATIONS[operation], object);
  return level ? `; on a hub the built-in rule is used (${level}), and here too without -f` : "";
}

function filesOf(customizations: readonly Manifest[]): string {
  const files = [...new Set(customizations.map(({ file }) => file))];
  return files.length > 3 ? `${files.slice(0, 3).join(", ")} and ${files.length - 3} more files` : files.join(", ");
}

/**
 * Dependencies come from every customization of a kind, and the message names the one that failed; other operations use
 * the first by name.
 */
function failedCustomization(
  { message }: InterpretError,
  operation: Operation,
  { apiVersion, kind }: AnyObject,
  customizations: readonly Manifest[],
): Manifest | undefined {
  const having = customizations.filter(
    (each) =>
      targetOf(each).apiVersion === apiVersion && targetOf(each).kind === kind && scriptOf(each, operation) !== "",
  );
  return having.find((each) => message.includes(`ResourceInterpreterCustomization ${nameOf(each)} `)) ?? having[0];
}
