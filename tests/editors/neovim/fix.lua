-- The menu on a finding's line, one fix applied, and what is left to find then.
local t = require('support')

t.run(function()
  vim.api.nvim_win_set_cursor(0, { t.findings()[1].lnum + 1, 0 }) -- on its line is near enough
  local titles = t.menu(function(title)
    return vim.startswith(title, vim.env.PALLAS_PICK)
  end)
  t.until_('the findings to go', function()
    return #t.shown('pallas') == 0
  end)
  return { titles = titles, text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') }
end)
