/* page.css and page.js, embedded by the build. */
#ifndef PC_PAGE_PARTS_H
#define PC_PAGE_PARTS_H

extern const char pc_page_css[];
extern const char pc_page_js[];

#endif
