/* table.js: a table of any length: rows are drawn as they come into sight, sorted and searched
 * without a mouse, and on paper the first hundred. */

const PAPER = 100;
/* From this share of the largest on, a colour needs light letters. */
const DEEP = 0.6;

function make(tag, attributes, ...inside) {
	const svg = /^(svg|g|rect|text|path|line|circle|title|polyline)$/.test(tag);
	const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);

	for (const [name, value] of Object.entries(attributes ?? {}))
		if (value !== undefined && value !== false)
			e.setAttribute(name, value === true ? '' : value);
	e.append(...inside.filter(i => i != null));
	return e;
}

class Table {
	/* columns: title, hint, text(row), value(row) to sort by, exact(row), number; of rows: search(row); of: how many
	 * there are, where the page has fewer */
	constructor(name, columns, rows, { search, detail, mark, of }) {
		this.name = name;
		this.of = of ?? rows.length;
		this.all = this.rows = rows;
		this.detail = detail;
		this.mark = mark;
		this.words = rows.map(row => search(row).toLowerCase());
		this.at = -1;
		this.sorted = { column: null, up: false };
		this.number = new Map(rows.map((row, i) => [row, i]));
		this.build();
		this.arrange(columns);
		this.search('');
	}
	build() {
		this.input = make('input', { type: 'search', placeholder: 'search', 'aria-label': `search ${this.name}`,
			title: 'show rows with all these words ( / )', autocomplete: 'off', spellcheck: 'false' });
		this.count = make('output', { 'aria-live': 'polite' });
		this.body = make('tbody');
		this.widths = make('colgroup');
		this.head = make('tr');
		this.table = make('table', { role: 'grid', 'aria-label': this.name }, this.widths, make('thead', null, this.head), this.body);
		this.box = make('div', { class: 'rows', tabindex: 0, 'aria-label': `${this.name}: arrow keys move, Enter shows more`, role: 'group' },
			this.table);
		this.more = make('div', { class: 'detail', 'aria-live': 'polite', hidden: true });
		this.rest = make('p', { class: 'paper' });
		this.element = make('div', { class: 'table' },
			make('div', { class: 'bar' }, this.input, this.count), this.box, this.rest, this.more);
		this.input.addEventListener('input', () => this.search(this.input.value));
		this.input.addEventListener('keydown', e => this.leave(e));
		this.box.addEventListener('scroll', () => this.draw());
		this.box.addEventListener('keydown', e => this.key(e));
		this.body.addEventListener('click', e => this.click(e));
		new ResizeObserver(() => this.draw(true)).observe(this.box);
	}
	arrange(columns) {
		this.columns = columns;
		this.table.setAttribute('aria-colcount', columns.length);
		const wide = columns.map((c, i) => this.width(c, i));

		this.widths.replaceChildren(...wide.map(w => {
			const col = make('col');

			col.style.width = w;
			return col;
		}));
		/* The sum in so many words: of max-content columns would be as wide as what is in them. */
		this.table.style.setProperty('--wide', `calc(${wide.join(' + ')})`);
		this.heads = columns.map(c => {
			const button = make('button', { type: 'button', title: c.hint }, c.title);

			button.addEventListener('click', () => this.sort(c));
			return make('th', { scope: 'col', 'aria-sort': 'none', class: c.narrow ? 'narrow' : c.number ? 'number' : undefined }, button);
		});
		this.head.replaceChildren(...this.heads);
	}
	/* Of the longest text there is: rows that come later move nothing.  The first column stays in sight, so it leaves
	 * room for others. */
	width(c, i) {
		if (c.narrow)
			return c.narrow;
		const marks = row => i === 0 ? (this.mark?.(row) ?? '').length : 0;

		c.most = c.most || this.all.reduce((most, row) => Math.max(most, marks(row) + c.text(row).length),
			Math.ceil(Math.max(...c.title.split(/(?<=[-\s])/).map(word => word.length)) * 1.2) + 2);	/* (bold capitals) */
		return i === 0 ? `min(${Math.min(c.most, 60) + 2}ch, 42vw)` : `${Math.min(c.most, c.number ? 30 : 60) + 2}ch`;
	}
	search(text) {
		const words = text.toLowerCase().split(/\s+/).filter(w => w);

		this.rows = this.all.filter((row, i) => words.every(w => this.words[i].includes(w)));
		this.count.value = this.rows.length === this.all.length ? this.of > this.all.length ?
			`${grouped(this.all.length)} of ${grouped(this.of)} rows: those that stand out` :
			`${grouped(this.all.length)} ${this.all.length === 1 ? 'row' : 'rows'}` :
			`${grouped(this.rows.length)} of ${grouped(this.all.length)} rows`;
		this.table.setAttribute('aria-rowcount', this.rows.length + 1);
		this.order();
	}
	sort(column, up) {
		const s = this.sorted;

		this.sorted = { column, up: up ?? (s.column === column ? !s.up : !column.number) };
		this.order();
	}
	order() {
		const { column, up } = this.sorted;

		if (column) {
			const keys = new Map(this.rows.map(row => [row, column.value(row)]));

			/* What is not there stands last, whichever way. */
			this.rows.sort((a, b) => {
				const x = keys.get(a), y = keys.get(b);

				if (x == null || y == null)
					return (x == null) - (y == null) || this.number.get(a) - this.number.get(b);
				return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1) || this.number.get(a) - this.number.get(b);
			});
		}
		this.columns.forEach((c, i) => this.heads[i].setAttribute('aria-sort',
			c !== column ? 'none' : up ? 'ascending' : 'descending'));
		this.at = -1;
		this.box.scrollTop = 0;
		this.draw(true);
	}
	draw(anew) {
		const high = this.high || 28, paper = this.paper;
		const first = paper ? 0 : Math.max(0, Math.floor(this.box.scrollTop / high) - 8);
		const last = Math.min(this.rows.length, paper ? PAPER : first + Math.ceil((this.box.clientHeight || 600) / high) + 24);

		if (!anew && first === this.first && last === this.last)
			return;
		this.first = first;
		this.last = last;
		this.body.replaceChildren(this.gap(first), ...this.rows.slice(first, last).map((row, i) => this.row(row, first + i)),
			this.gap(paper ? 0 : this.rows.length - last));
		this.rest.textContent = this.rows.length > PAPER ? `\u2026 and ${grouped(this.rows.length - PAPER)} more rows, on the screen` : '';
		this.high = this.body.children[1]?.getBoundingClientRect().height || high;
	}
	gap(rows) {
		const td = make('td', { colspan: this.columns.length });

		td.style.height = `${Math.max(0, rows) * (this.high || 28)}px`;
		return make('tr', { 'aria-hidden': 'true', class: 'gap', hidden: rows <= 0 }, td);
	}
	row(row, i) {
		const cells = this.columns.map((c, k) => {
			const td = make(k ? 'td' : 'th', { class: c.number ? 'number' : undefined, title: c.exact?.(row), scope: k ? undefined : 'row' },
				(k ? '' : this.mark?.(row) ?? '') + c.text(row));

			if (c.bar)
				td.style.setProperty('--x', c.bar(row) || 0);
			if (c.bar)
				td.classList.add('share');
			if (c.heat) {
				const x = c.heat(row);

				td.style.setProperty('--x', x ?? 0);
				td.classList.add('heat');
				td.classList.toggle('narrow', !!c.narrow);
				td.classList.toggle('none', x === null);
				td.classList.toggle('deep', x > DEEP);
			}
			return td;
		});

		return make('tr', { 'aria-rowindex': i + 2, 'data-row': i, 'aria-selected': i === this.at ? 'true' : 'false' }, ...cells);
	}
	click(e) {
		const tr = e.target.closest('tr[data-row]');

		if (tr) {
			this.move(Number(tr.dataset.row));
			this.show();
		}
	}
	leave(e) {
		if (e.key !== 'Escape' && e.key !== 'Enter' && e.key !== 'ArrowDown')
			return;
		if (e.key === 'Escape' && this.input.value) {
			this.input.value = '';
			this.search('');
		} else {
			this.box.focus();
			this.move(Math.max(this.at, 0));
		}
		e.preventDefault();
	}
	key(e) {
		const page = Math.max(1, Math.floor(this.box.clientHeight / (this.high || 28)) - 2);
		const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page,
			Home: 0, End: this.rows.length - 1 }[e.key];

		if (e.target !== this.box || e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (to !== undefined)
			this.move(to);
		else if (e.key === 'Enter' && this.at >= 0)
			this.show();
		else if (e.key === 'Escape')
			this.more.hidden = true;
		else
			return;
		e.preventDefault();
	}
	/* Row i becomes the one that Enter is for, and is in sight. */
	move(i) {
		const high = this.high || 28, head = this.table.tHead.offsetHeight;

		if (!this.rows.length)
			return;
		this.at = Math.min(Math.max(i, 0), this.rows.length - 1);
		if (this.at * high < this.box.scrollTop)
			this.box.scrollTop = this.at * high;
		else if ((this.at + 1) * high + head > this.box.scrollTop + this.box.clientHeight)
			this.box.scrollTop = (this.at + 1) * high + head - this.box.clientHeight;
		this.draw(true);
		if (!this.more.hidden)
			this.show();
	}
	show() {
		if (!this.detail)
			return;
		this.more.hidden = false;
		this.more.replaceChildren(...this.detail(this.rows[this.at]));
	}
}
