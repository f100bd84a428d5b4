/** Fixture pages, each once per size. */

import { checkPages } from "./checks";
import { FIXTURES, fixture } from "./fixtures";

// The articles page compares single figures, so one of its pictures has one value.
checkPages(FIXTURES.map((name) => ({ name, url: () => fixture(name), repeatable: true, pointsMin: name === "articles" ? 1 : 3, oneRun: name === "quick", limits: false })));
