/**
 * Splits an `sh` block into commands, each with its first line. A command continues over lines that end in `\`, `|`,
 * `&&` or `||`, over open quotes and brackets, over here-documents, and over the body of a loop or conditional. Pure.
 */

export interface ShellCommand {
  /** As written in the block, including comments. */
  text: string;
  /** Counted from 0 within the block. */
  line: number;
  /** The expected exit code; a comment at the end of its first or last line sets it (`# exit 1`). */
  exitCode: number;
  /** Runs until it is stopped, as in a separate terminal; set by a comment that mentions Ctrl-C. */
  staysUp: boolean;
}

const OPENING = new Set(["if", "for", "while", "until", "case", "select"]);
const CLOSING = new Set(["fi", "done", "esac"]);
/** Words after which another command begins; `for` in `echo for` opens nothing. */
const BEFORE_COMMAND = new Set(["", ";", "&&", "||", "|", "do", "then", "else", "(", "{", "!"]);

export function splitCommands(block: readonly string[]): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let start = 0;
  let state = emptyState();
  for (const [index, line] of block.entries()) {
    if (isBetween(state) && (line.trim() === "" || line.trim().startsWith("#"))) {
      start = index + 1;
      continue;
    }
    state = readLine(state, line);
    if (state.isOpen) continue;
    commands.push(toCommand(block.slice(start, index + 1), start));
    start = index + 1;
    state = emptyState();
  }
  // Unterminated constructs are left to the shell, which reports the error.
  if (!isBetween(state)) commands.push(toCommand(block.slice(start), start));
  return commands;
}

interface State {
  quote: "" | "'" | '"';
  /** The number of open brackets, loops and conditionals. */
  depth: number;
  /** Terminators of pending here-documents, first one first. */
  documents: { end: string; tabs: boolean }[];
  isOpen: boolean;
  begun: boolean;
}

function emptyState(): State {
  return { quote: "", depth: 0, documents: [], isOpen: false, begun: false };
}

function isBetween({ begun }: State): boolean {
  return !begun;
}

function readLine(before: State, line: string): State {
  const [document, ...rest] = before.documents;
  if (document) {
    const ends = (document.tabs ? line.replace(/^\t+/, "") : line) === document.end;
    const documents = ends ? rest : before.documents;
    return { ...before, documents, isOpen: documents.length > 0 || before.depth > 0 || before.quote !== "" };
  }
  const scan = scanLine(before, line);
  return {
    ...scan,
    begun: true,
    isOpen: scan.continues || scan.quote !== "" || scan.depth > 0 || scan.documents.length > 0,
  };
}

function scanLine(before: State, line: string): State & { continues: boolean } {
  let { quote, depth } = before;
  const documents = [...before.documents];
  let word = "";
  let last = "";
  const endWord = (): void => {
    if (word === "") return;
    if (OPENING.has(word) && BEFORE_COMMAND.has(last)) depth++;
    if (CLOSING.has(word) && BEFORE_COMMAND.has(last)) depth--;
    last = word;
    word = "";
  };

  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? "";
    if (quote === "'") {
      if (character === "'") quote = "";
    } else if (quote === '"') {
      if (character === "\\") at++;
      else if (character === '"') quote = "";
    } else if (character === "\\") {
      if (at === line.length - 1) return { ...before, quote, depth, documents, continues: true };
      word += line.slice(at, at + 2);
      at++;
    } else if (character === "'" || character === '"') {
      quote = character;
      word += character;
    } else if (character === "#" && word === "") {
      break;
    } else if (line.startsWith("<<<", at)) {
      endWord();
      at += 2;
    } else if (line.startsWith("<<", at)) {
      endWord();
      const found = /^<<(-?)\s*(?:'([^']+)'|"([^"]+)"|\\?([\w-]+))/.exec(line.slice(at));
      if (found) {
        documents.push({ end: found[2] ?? found[3] ?? found[4] ?? "", tabs: found[1] === "-" });
        at += found[0].length - 1;
        last = "<<";
      }
    } else if (character === "(" || (character === "{" && word === "")) {
      word = "";
      depth++;
      last = character;
    } else if (character === ")" || (character === "}" && word === "")) {
      endWord();
      if (depth > 0) depth--;
      last = character;
    } else if (/[;&|]/.test(character)) {
      endWord();
      const operator = line[at + 1] === character ? character.repeat(2) : character;
      at += operator.length - 1;
      last = operator;
    } else if (/\s/.test(character)) {
      endWord();
    } else {
      word += character;
    }
  }
  if (quote === "") endWord();
  return {
    ...before,
    quote,
    depth,
    documents,
    continues: quote === "" && (last === "|" || last === "&&" || last === "||"),
  };
}

function toCommand(lines: readonly string[], line: number): ShellCommand {
  const comments = [lines[0] ?? "", lines.at(-1) ?? ""].map(trailingComment);
  const exitCode = comments
    .map((comment) => /\bexit (?:code )?(\d{1,3})$/.exec(comment)?.[1])
    .find((code) => code !== undefined);
  return {
    text: lines.join("\n"),
    line,
    exitCode: Number(exitCode ?? 0),
    staysUp: comments.some((comment) => comment.includes("Ctrl-C")),
  };
}

/** The text after the last unquoted ` #` of a line. */
function trailingComment(line: string): string {
  const found = /(?:^|\s)#\s*([^'"]*)$/.exec(line);
  return found?.[1]?.trim() ?? "";
}
