/**
 * Finds keys that a JSON object states twice, which `JSON.parse` does not tell. One pass over the text; only the keys are
 * looked at. The text must be valid JSON, so parse it first.
 */
import { formatPath, type PathStep } from "./field-path.ts";

interface Level {
  /** The keys so far; undefined in a list. */
  readonly keys: Set<string> | undefined;
  /** The key or index that is being read. */
  at: PathStep;
  /** In an object: whether the next string is a key. */
  expectsKey: boolean;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** The paths of keys that are there more than once (`spec.list[0].name`), each once, in order of appearance. */
export function findDuplicateKeys(json: string): string[] {
  const duplicates = new Set<string>();
  const levels: Level[] = [];
  let level: Level | undefined;
  for (let index = 0; index < json.length; index++) {
    switch (json.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfString(json, index + 1);
        if (level?.expectsKey && level.keys) {
          const key = keyOf(json, index, end);
          level.at = key;
          level.expectsKey = false;
          if (level.keys.has(key)) duplicates.add(formatPath(levels.map(({ at }) => at)));
          else level.keys.add(key);
        }
        index = end;
        break;
      }
      case COMMA:
        if (level?.keys) level.expectsKey = true;
        else if (level) level.at = Number(level.at) + 1;
        break;
      case OPEN_OBJECT:
        level = { keys: new Set(), at: "", expectsKey: true };
        levels.push(level);
        break;
      case OPEN_LIST:
        level = { keys: undefined, at: 0, expectsKey: false };
        levels.push(level);
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        levels.pop();
        level = levels.at(-1);
        break;
      default:
    }
  }
  return [...duplicates];
}

/** The place of the quote that closes the string: the first one that an even number of backslashes precedes. */
function endOfString(json: string, from: number): number {
  for (let end = json.indexOf('"', from); end >= 0; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH && end - 1 - slashes >= from) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}

function keyOf(json: string, start: number, end: number): string {
  const raw = json.slice(start + 1, end);
  return raw.includes("\\") ? (JSON.parse(json.slice(start, end + 1)) as string) : raw;
}
