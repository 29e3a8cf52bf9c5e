/**
 * Parses the targets of a command line: `pods`, `deploy,svc`, `pod web-1 web-2`, `deployment/web service/web`. Pure.
 */
import { UsageError } from "@flotilla/base";

export interface Target {
  /** Types as in kubectl; several were separated by commas. */
  words: readonly string[];
  /** Empty means all objects of the type. */
  names: readonly string[];
}

/** Throws `UsageError` that includes the command's usage. */
export function readTargets(args: readonly string[], usage: string): Target[] {
  const [first = "", ...rest] = args;
  if (!first.includes("/")) {
    const words = first
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
    const slashed = rest.find((name) => name.includes("/"));
    if (words.length === 0 || slashed !== undefined)
      throw new UsageError(
        `${slashed === undefined ? "name a type" : `'${slashed}' includes a type, but a type was already given`}: ${usage}`,
      );
    return [{ words, names: [...new Set(rest)] }];
  }
  return args.map((arg) => {
    const [word = "", name = "", ...more] = arg.split("/");
    if (word === "" || name === "" || more.length > 0) throw new UsageError(`'${arg}' is not TYPE/NAME: ${usage}`);
    return { words: [word], names: [name] };
  });
}

/** The single object given as TYPE/NAME or as TYPE NAME. */
export function readOne(args: readonly string[], usage: string): { word: string; name: string } {
  const targets = readTargets(args, usage);
  const [{ words, names }] = targets as [Target];
  const [word, name] = [words[0], names[0]];
  if (targets.length > 1 || words.length > 1 || names.length > 1 || word === undefined || name === undefined)
    throw new UsageError(`specify one object: ${usage}`);
  return { word, name };
}
